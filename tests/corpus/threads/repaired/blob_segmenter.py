"""Segment round cells on an uneven ground: small encoder-decoder, Dice objective."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 3
SIZE = 32
EPOCHS = 12
BATCH = 24
LR = 2e-3


def make_cells(n, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    images, masks = [], []
    for _ in range(n):
        mask = np.zeros((SIZE, SIZE), bool)
        for _ in range(rng.integers(1, 4)):
            cx, cy = rng.uniform(0.15, 0.85, 2)
            r = rng.uniform(0.08, 0.17)
            mask |= (xx - cx) ** 2 + (yy - cy) ** 2 < r ** 2
        ground = 0.4 * xx * rng.uniform(-1, 1) + 0.4 * yy * rng.uniform(-1, 1)
        img = ground + mask * rng.uniform(0.5, 1.0) + rng.normal(0, 0.25, mask.shape)
        images.append(img)
        masks.append(mask)
    to = lambda a: torch.tensor(np.stack(a)[:, None], dtype=torch.float32)
    return to(images), to(masks)


def conv(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        self.d1, self.d2 = conv(1, w), conv(w, 2 * w)
        self.mid = conv(2 * w, 2 * w)
        self.u1 = conv(4 * w, w)
        self.u2 = conv(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        b = self.u1(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        a = self.u2(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.out(a)


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, prediction, target):
        p = torch.sigmoid(prediction).flatten(1)
        t = target.flatten(1)
        inter = (p * t).sum(1)
        union = (p * p).sum(1) + (t * t).sum(1)
        return (1 - (2 * inter + self.smooth) / (union + self.smooth)).mean()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    inter = union = 0.0
    for x, m in loader:
        pred = (torch.sigmoid(model(x)) > 0.5).float()
        inter += (pred * m).sum().item()
        union += ((pred + m) > 0).sum().item()
    return inter / union, 2 * inter / (union + inter)


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    train = DataLoader(TensorDataset(*make_cells(480, rng)), batch_size=BATCH, shuffle=True)
    test = DataLoader(TensorDataset(*make_cells(160, rng)), batch_size=80)
    model = TinyUNet()
    criterion = DiceLoss()
    opt = torch.optim.Adam(model.parameters(), lr=LR)
    for epoch in range(1, EPOCHS + 1):
        model.train()
        losses = []
        for x, m in train:
            loss = criterion(model(x), m)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if epoch % 2 == 0:
            iou, dice = evaluate(model, test)
            print(f"epoch {epoch:2d}  dice loss {np.mean(losses):.3f}  test iou {iou:.3f}  test dice {dice:.3f}")


if __name__ == "__main__":
    main()
