"""Digits from a bank of fixed random filters; only the readout is fitted."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class FilterBank(nn.Module):
    def __init__(self, filters=96):
        super().__init__()
        self.conv = nn.Conv2d(1, filters, 5, padding=2)
        self.norm = nn.BatchNorm2d(filters)
        nn.init.normal_(self.conv.weight, std=0.5)

    def forward(self, x):
        return F.adaptive_avg_pool2d(F.relu(self.norm(self.conv(x))), 4).flatten(1)


class Classifier(nn.Module):
    def __init__(self, bank, filters=96):
        super().__init__()
        self.bank = bank
        self.readout = nn.Linear(filters * 16, 10)
        nn.init.zeros_(self.readout.weight)
        nn.init.zeros_(self.readout.bias)

    def train(self, mode=True):
        super().train(mode)
        self.bank.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            h = self.bank(x)
        return self.readout(h)


def load(seed):
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images.reshape(-1, 1, 8, 8) / 16.0, dtype=torch.float32)
    y = torch.tensor(labels)
    tr, te = train_test_split(range(len(x)), test_size=0.3, random_state=seed, stratify=labels)
    return x[tr], y[tr], x[te], y[te]


@torch.no_grad()
def settle_statistics(bank, x, passes=1):
    bank.norm.momentum = None
    bank.norm.reset_running_stats()
    bank.train()
    for _ in range(passes):
        for xb in x.split(128):
            bank(xb)


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    out = model(x)
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=8e-5)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    x, y, xt, yt = load(args.seed)
    bank = FilterBank()
    settle_statistics(bank, x)
    model = Classifier(bank)
    for p in model.bank.parameters():
        p.requires_grad_(False)
    opt = torch.optim.SGD(model.readout.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(model(x[idx]), y[idx], reduction="sum")
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        test_loss, acc = evaluate(model, xt, yt)
        print(f"epoch {epoch:2d}  train loss {total / len(x):.4f}  test loss {test_loss:.4f}  test acc {acc:.3f}")


if __name__ == "__main__":
    main()
