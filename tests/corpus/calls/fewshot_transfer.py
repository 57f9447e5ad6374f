"""Pretrain on digits 0-5, then learn the digits 6-9 from a few examples with the backbone held fixed."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


def conv(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU())


class Backbone(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        self.layers = nn.Sequential(conv(1, ch), nn.MaxPool2d(2), conv(ch, 2 * ch), nn.MaxPool2d(2), conv(2 * ch, 2 * ch))

    def forward(self, x):
        return self.layers(x).flatten(1)


class FixedBackboneClassifier(nn.Module):
    def __init__(self, backbone, n_feature, n_class):
        super().__init__()
        self.backbone = backbone.requires_grad_(False)
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(n_feature, n_class))

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            h = self.backbone(x)
        return self.head(h)


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def run(model, optimizer, x, y, epochs, batch, name, test):
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(y)).split(batch):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        if epoch % (epochs // 4) == 0:
            print(f"{name} epoch {epoch:3d}  loss {total / len(y):.4f}  test acc {accuracy(model, *test):.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots", type=int, default=25)
    parser.add_argument("--seed", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    digits = load_digits()
    x = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(y))
    x, y = x[order], y[order]

    old = y < 6
    old_x, old_y = x[old], y[old]
    backbone = Backbone()
    full = nn.Sequential(backbone, nn.Linear(192, 6))
    optimizer = torch.optim.Adam(full.parameters(), lr=2e-3)
    run(full, optimizer, old_x[200:], old_y[200:], 8, 64, "pretrain", (old_x[:200], old_y[:200]))

    new_x, new_y = x[~old], y[~old] - 6
    shots = torch.cat([torch.where(new_y == k)[0][: args.shots] for k in range(4)])
    rest = torch.ones(len(new_y), dtype=torch.bool)
    rest[shots] = False
    model = FixedBackboneClassifier(backbone, 192, 4)
    before = {k: v.clone() for k, v in backbone.state_dict().items()}
    optimizer = torch.optim.SGD(model.head.parameters(), lr=0.03, momentum=0.9)
    run(model, optimizer, new_x[shots], new_y[shots], 60, 20, "few-shot", (new_x[rest], new_y[rest]))
    same = all(torch.equal(v, before[k]) for k, v in backbone.state_dict().items())
    print(f"backbone as it was: {same}")


if __name__ == "__main__":
    main()
