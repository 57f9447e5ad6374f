"""Grid detector for three kinds of shapes; per cell: objectness, class scores, box; NMS over the whole batch."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torchvision.ops import batched_nms, box_iou

SIZE, GRID, N_CLS = 48, 12, 3
STRIDE = SIZE // GRID


def draw(n):
    img = torch.rand(n, 3, SIZE, SIZE) * 0.5
    truth = []
    for i in range(n):
        boxes = []
        for _ in range(torch.randint(1, 4, ()).item()):
            w, h = torch.randint(10, 20, (2,)).tolist()
            x, y = torch.randint(0, SIZE - w, ()).item(), torch.randint(0, SIZE - h, ()).item()
            box = torch.tensor([[x, y, x + w, y + h]]).float()
            if boxes and box_iou(box, torch.tensor([b[:4] for b in boxes]).float()).max() > 0.05:
                continue
            k = torch.randint(0, N_CLS, ()).item()
            patch = img[i, :, y : y + h, x : x + w]
            patch[k] += 0.4
            patch[:, :: 2 + k, :] += 0.25
            boxes.append([x, y, x + w, y + h, k])
        truth.append(torch.tensor(boxes).float())
    return img, truth


def targets(truth):
    obj, cls = torch.zeros(len(truth), GRID, GRID), torch.zeros(len(truth), GRID, GRID, dtype=torch.long)
    ltrb = torch.zeros(len(truth), 4, GRID, GRID)
    c = (torch.arange(GRID) + 0.5) * STRIDE
    for i, boxes in enumerate(truth):
        for x1, y1, x2, y2, k in boxes.tolist():
            near = ((c[None] - (x1 + x2) / 2).abs() < 6) & ((c[:, None] - (y1 + y2) / 2).abs() < 6)
            obj[i][near], cls[i][near] = 1.0, int(k)
            sides = torch.stack([c[None] - x1 + 0 * c[:, None], c[:, None] - y1 + 0 * c[None],
                                 x2 - c[None] + 0 * c[:, None], y2 - c[:, None] + 0 * c[None]])
            ltrb[i][:, near] = sides[:, near] / STRIDE
    return obj, cls, ltrb


class Detector(nn.Module):
    def __init__(self, ch=32):
        super().__init__()
        layers, last = [], 3
        for stride in (2, 2, 1, 1):
            layers += [nn.Conv2d(last, ch, 3, stride=stride, padding=1), nn.BatchNorm2d(ch), nn.ReLU()]
            last = ch
        self.body = nn.Sequential(*layers)
        self.head = nn.Conv2d(ch, 1 + N_CLS + 4, 1)

    def forward(self, x):
        out = self.head(self.body(x))
        return out[:, 0], out[:, 1 : 1 + N_CLS], out[:, 1 + N_CLS :]


@torch.no_grad()
def detect(model, img, conf_thr=0.1, iou_thr=0.4):
    model.eval()
    obj, cls, ltrb = model(img)
    prob, label = (obj.sigmoid().unsqueeze(1) * cls.softmax(1)).max(1)
    c = (torch.arange(GRID) + 0.5) * STRIDE
    cx, cy = c.view(1, 1, -1), c.view(1, -1, 1)
    d = F.relu(ltrb) * STRIDE
    box = torch.stack([cx - d[:, 0], cy - d[:, 1], cx + d[:, 2], cy + d[:, 3]], -1)
    keep = prob > conf_thr
    image_id = torch.where(keep)[0]
    valid_box, valid_conf, valid_cls = box[keep], prob[keep], label[keep]
    idx = batched_nms(valid_box, valid_conf, image_id, iou_thr)
    return image_id[idx], valid_box[idx], valid_conf[idx], valid_cls[idx]


def average_precision(found, truth):
    image_id, box, conf, label = found
    used, hits = [set() for _ in truth], []
    for j in conf.argsort(descending=True).tolist():
        t = truth[image_id[j]]
        iou = box_iou(box[j : j + 1], t[:, :4])[0] * (t[:, 4] == label[j])
        best = iou.argmax().item()
        good = iou[best].item() >= 0.5 and best not in used[image_id[j]]
        used[image_id[j]].add(best) if good else None
        hits.append(float(good))
    tp = torch.tensor(hits).cumsum(0)
    precision, recall = tp / torch.arange(1, len(tp) + 1), tp / sum(len(t) for t in truth)
    precision = precision.flip(0).cummax(0)[0].flip(0)
    return torch.trapezoid(precision, recall).item() + (precision[0] * recall[0]).item(), recall[-1].item()


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--seed", type=int, default=2)
args = parser.parse_args()
torch.manual_seed(args.seed)
train_img, train_truth = draw(600)
test_img, test_truth = draw(150)
t_obj, t_cls, t_box = targets(train_truth)
model = Detector()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(args.epochs):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(train_img)).split(32):
        obj, cls, ltrb = model(train_img[idx])
        pos = t_obj[idx] > 0
        loss = F.binary_cross_entropy_with_logits(obj, t_obj[idx])
        loss = loss + F.cross_entropy(cls.permute(0, 2, 3, 1)[pos], t_cls[idx][pos])
        loss = loss + F.smooth_l1_loss(ltrb.permute(0, 2, 3, 1)[pos], t_box[idx].permute(0, 2, 3, 1)[pos])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    ap, recall = average_precision(detect(model, test_img), test_truth)
    print(f"epoch {epoch} loss {total / len(train_img):.3f}  AP50 {ap:.3f}  recall {recall:.3f}")
