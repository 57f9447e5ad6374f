"""Find the one bright plate in a noisy picture: a box regressor with an L1 and an overlap loss."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.ops import box_convert, box_iou, generalized_box_iou_loss


def make_scenes(n, size, gen):
    """Pictures and boxes (centre x, centre y, width, height), all in shares of the picture."""
    wh = torch.rand(n, 2, generator=gen) * 0.35 + 0.2
    c = wh / 2 + torch.rand(n, 2, generator=gen) * (1 - wh)
    boxes = torch.cat([c, wh], dim=1)
    t = (torch.arange(size) + 0.5) / size
    inx = (t[None] - c[:, :1]).abs() < wh[:, :1] / 2
    iny = (t[None] - c[:, 1:]).abs() < wh[:, 1:] / 2
    plate = (iny[:, :, None] & inx[:, None, :]).float()
    level = 0.5 + 0.5 * torch.rand(n, 1, 1, generator=gen)
    img = plate * level + 0.25 * torch.randn(n, size, size, generator=gen)
    return img.unsqueeze(1), boxes


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        def block(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))
        self.backbone = nn.Sequential(block(1, 16), block(16, 32), block(32, 32))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.head(self.backbone(x)).sigmoid()


class BoxCriterion(nn.Module):
    def __init__(self, l1_weight=1.0, giou_weight=2.0):
        super().__init__()
        self.l1_weight, self.giou_weight = l1_weight, giou_weight

    def forward(self, pred, target):
        l1 = F.l1_loss(pred, target)
        giou = generalized_box_iou_loss(pred, target, reduction="mean")
        return self.l1_weight * l1 + self.giou_weight * giou, l1.detach(), giou.detach()


@torch.no_grad()
def evaluate(model, images, boxes):
    model.eval()
    pred = box_convert(model(images), "cxcywh", "xyxy")
    truth = box_convert(boxes, "cxcywh", "xyxy")
    iou = box_iou(pred, truth).diagonal()
    return iou.mean().item(), (iou > 0.5).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--train-size", type=int, default=1200)
    ap.add_argument("--batch-size", type=int, default=48)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    images, boxes = make_scenes(args.train_size, 32, gen)
    test_images, test_boxes = make_scenes(400, 32, gen)
    model, criterion = Detector(), BoxCriterion()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    for epoch in range(1, args.epochs + 1):
        model.train()
        sums = torch.zeros(3)
        batches = torch.randperm(len(images)).split(args.batch_size)
        for idx in batches:
            loss, l1, giou = criterion(model(images[idx]), boxes[idx])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            sums += torch.stack([loss.detach(), l1, giou])
        if epoch % 2 == 0:
            s = (sums / len(batches)).tolist()
            miou, ap50 = evaluate(model, test_images, test_boxes)
            print(f"epoch {epoch:2d} loss {s[0]:.3f} (l1 {s[1]:.3f} giou {s[2]:.3f}) test mean iou {miou:.3f} hit@0.5 {ap50:.3f}")


if __name__ == "__main__":
    main()
