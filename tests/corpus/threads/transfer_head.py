"""Learn features on digits 0-4, keep them fixed and train a new head for digits 5-9 from few examples."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--source-epochs", type=int, default=12)
parser.add_argument("--head-epochs", type=int, default=40)
parser.add_argument("--shots", type=int, default=20)
parser.add_argument("--batch-size", type=int, default=10)
parser.add_argument("--seed", type=int, default=0)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.Dropout(0.2))

    def forward(self, x):
        return self.net(x).flatten(1)


class Classifier(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(64 * 16, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def split_tasks(seed):
    d = load_digits()
    x = torch.tensor(d.images / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(d.target)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    x, y = x[order], y[order]
    low = y < 5
    return (x[low], y[low]), (x[~low], y[~low] - 5)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def train_source(model, x, y, epochs):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()


def train_head(model, loader, epochs, test):
    model.backbone.requires_grad_(False)
    opt = torch.optim.SGD(model.head.parameters(), lr=0.02)
    model.eval()
    for epoch in range(1, epochs + 1):
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(yb)
        if epoch % 10 == 0:
            print(f"head epoch {epoch:2d}  loss {total / len(loader.dataset):.4f}  test acc {accuracy(model, *test):.3f}")


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    source, (xt, yt) = split_tasks(args.seed)
    backbone = Backbone()
    first = Classifier(backbone, 5)
    train_source(first, *source, args.source_epochs)
    print(f"source acc {accuracy(first, *source):.3f}")

    few = torch.cat([(yt == k).nonzero().flatten()[:args.shots] for k in range(5)])
    rest = torch.ones(len(yt), dtype=torch.bool)
    rest[few] = False
    loader = DataLoader(TensorDataset(xt[few], yt[few]), batch_size=args.batch_size, shuffle=True)
    second = Classifier(backbone, 5)
    print(f"new head, untrained: {accuracy(second, xt[rest], yt[rest]):.3f}")
    train_head(second, loader, args.head_epochs, (xt[rest], yt[rest]))


if __name__ == "__main__":
    main()
