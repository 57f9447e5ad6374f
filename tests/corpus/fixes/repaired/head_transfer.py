import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)


def load_tasks():
    bunch = load_digits()
    x = torch.tensor(bunch.images, dtype=torch.float32).unsqueeze(1) / 16.0
    y = torch.tensor(bunch.target)
    perm = torch.randperm(len(y))
    x, y = x[perm], y[perm]
    scans = (x[:1000], y[:1000], x[1000:], y[1000:])
    pair = (y == 1) | (y == 7)
    seven = (y == 7).long()
    first, rest = pair.clone(), pair.clone()
    first[1000:] = False
    rest[:1000] = False
    x = 0.5 * x + 0.4
    sevens = (x[first], seven[first], x[rest], seven[rest])
    return scans, sevens


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, padding=1, bias=False), nn.BatchNorm2d(48), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(48, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.dim = 64 * 4

    def forward(self, x):
        return self.layers(x)


class TwoTaskModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.digit_head = nn.Linear(self.backbone.dim, 10)
        self.pair_head = nn.Sequential(
            nn.Linear(self.backbone.dim, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 2)
        )

    def forward(self, x, task):
        feats = self.backbone(x)
        return self.digit_head(feats) if task == "digit" else self.pair_head(feats)


def score(model, x, y, task):
    model.eval()
    with torch.no_grad():
        return (model(x, task).argmax(1) == y).float().mean().item()


def batches(x, y, size):
    order = torch.randperm(len(y))
    for i in range(0, len(y) - size + 1, size):
        yield x[order[i:i + size]], y[order[i:i + size]]


def fit_digits(model, data, epochs=10):
    x, y, xt, yt = data
    params = list(model.backbone.parameters()) + list(model.digit_head.parameters())
    opt = torch.optim.Adam(params, lr=2e-3)
    for epoch in range(epochs):
        model.train()
        for xb, yb in batches(x, y, 50):
            loss = F.cross_entropy(model(xb, "digit"), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"stage 1 epoch {epoch}: loss {loss.item():.4f} digit acc {score(model, xt, yt, 'digit'):.4f}")


def fit_pair(model, data, digit_data, epochs=20):
    x, y, xt, yt = data
    for p in model.backbone.parameters():
        p.requires_grad = False
    for p in model.digit_head.parameters():
        p.requires_grad = False
    opt = torch.optim.Adam(model.pair_head.parameters(), lr=2e-3)
    for epoch in range(epochs):
        model.train()
        model.backbone.eval()
        for xb, yb in batches(x, y, 20):
            loss = F.cross_entropy(model(xb, "pair"), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 4:
            print(f"stage 2 epoch {epoch}: loss {loss.item():.4f} "
                  f"pair acc {score(model, xt, yt, 'pair'):.4f} "
                  f"digit acc {score(model, digit_data[2], digit_data[3], 'digit'):.4f}")


scans, sevens = load_tasks()
model = TwoTaskModel()
print("parameters:", sum(p.numel() for p in model.parameters()))
fit_digits(model, scans)
fit_pair(model, sevens, scans)
print(f"final digit_acc={score(model, scans[2], scans[3], 'digit'):.4f} "
      f"pair_acc={score(model, sevens[2], sevens[3], 'pair'):.4f}")
