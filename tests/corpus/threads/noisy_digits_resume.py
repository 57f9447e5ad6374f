"""Digits with a poly learning rate, trained in two sittings.

The first sitting stops half way and leaves a checkpoint, the second one picks it up.
"""
import argparse
import io

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=30)
parser.add_argument("--stop-after", type=int, default=15)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--lr", type=float, default=0.4)
parser.add_argument("--flip", type=float, default=0.25, help="share of training labels drawn at random")
parser.add_argument("--seed", type=int, default=0)


def get_data(flip, seed):
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
    y = torch.tensor(y)
    tr, te = train_test_split(range(len(y)), test_size=0.4, random_state=seed, stratify=y)
    g = torch.Generator().manual_seed(seed)
    ytr = y[tr].clone()
    hit = torch.rand(len(ytr), generator=g) < flip
    ytr[hit] = torch.randint(0, 10, (int(hit.sum()),), generator=g)
    return x[tr], ytr, x[te], y[te]


class SmallConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.fc = nn.Linear(32 * 4, 10)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


def build(args):
    model = SmallConv()
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.5, weight_decay=1e-4)
    scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda e: (1 - e / args.epochs) ** 0.9)
    return model, optimizer, scheduler


def run(model, optimizer, scheduler, loader, first, last, test):
    for epoch in range(first, last):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(yb)
        lr = optimizer.param_groups[0]["lr"]
        scheduler.step()
        if epoch % 3 == 2:
            acc, nll = evaluate(model, *test)
            print(f"epoch {epoch:2d} lr {lr:.4f} train {total / len(loader.dataset):.3f} test acc {acc:.3f} nll {nll:.3f}")


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    out = model(x)
    return (out.argmax(1) == y).float().mean().item(), F.cross_entropy(out, y).item()


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    xtr, ytr, xte, yte = get_data(args.flip, args.seed)
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=args.batch_size, shuffle=True)

    model, optimizer, scheduler = build(args)
    run(model, optimizer, scheduler, loader, 0, args.stop_after, (xte, yte))
    buf = io.BytesIO()
    torch.save({"epoch": args.stop_after, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, buf)

    print("--- second sitting ---")
    buf.seek(0)
    ckpt = torch.load(buf)
    model, optimizer, scheduler = build(args)
    model.load_state_dict(ckpt["model"])
    optimizer.load_state_dict(ckpt["optimizer"])
    run(model, optimizer, scheduler, loader, ckpt["epoch"], args.epochs, (xte, yte))
    acc, nll = evaluate(model, xte, yte)
    print(f"final: test acc {acc:.4f} nll {nll:.4f}")


if __name__ == "__main__":
    main()
