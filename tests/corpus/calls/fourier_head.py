"""Kernel-style digits classifier: a fixed random cosine layer and a linear head started at zero."""
import argparse
import math

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=15)
parser.add_argument("--epochs", type=int, default=15)
parser.add_argument("--features", type=int, default=1500)
parser.add_argument("--bandwidth", type=float, default=4.0)
parser.add_argument("--lr", type=float, default=60.0)
args = parser.parse_args()
torch.manual_seed(args.seed)


class RandomCosines(nn.Module):
    """cos(Wx + b) with W and b drawn once; approximates a Gaussian kernel."""

    def __init__(self, n_in, n_out, bandwidth):
        super().__init__()
        self.proj = nn.Linear(n_in, n_out)
        nn.init.normal_(self.proj.weight, std=1.0 / bandwidth)
        nn.init.uniform_(self.proj.bias, 0, 2 * math.pi)
        self.proj.requires_grad_(False)
        self.scale = math.sqrt(2.0 / n_out)

    def forward(self, x):
        return self.scale * torch.cos(self.proj(x))


class KernelNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = RandomCosines(64, args.features, args.bandwidth)
        self.head = nn.Linear(args.features, 10)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        return self.head(self.lift(x))


def loaders():
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32) / 8 - 1
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    train, test = order[:1300], order[1300:]
    return (DataLoader(TensorDataset(x[train], y[train]), batch_size=50, shuffle=True),
            DataLoader(TensorDataset(x[test], y[test]), batch_size=500))


@torch.no_grad()
def evaluate(model, loader):
    hits = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
    return hits / len(loader.dataset)


def main():
    train_loader, test_loader = loaders()
    model = KernelNet()
    optimizer = torch.optim.SGD(model.head.parameters(), lr=args.lr)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{trained} of {sum(p.numel() for p in model.parameters())} parameters are trained")
    for epoch in range(1, args.epochs + 1):
        total = 0.0
        for x, y in train_loader:
            target = nn.functional.one_hot(y, 10).float()
            loss = nn.functional.binary_cross_entropy_with_logits(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print(f"epoch {epoch:2d} loss {total / len(train_loader.dataset):.4f} test acc {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
