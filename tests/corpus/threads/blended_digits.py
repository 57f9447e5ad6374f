"""Digits with blended pairs of images and softened targets."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten(),
        )
        self.head = nn.Linear(32 * 16, 10)

    def forward(self, x):
        return self.head(self.body(x))


def blend(x, y, beta):
    lam = beta.sample().item()
    other = torch.randperm(len(x))
    return lam * x + (1 - lam) * x[other], y, y[other], lam


def load(seed):
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images.reshape(-1, 1, 8, 8) / 16.0, dtype=torch.float32)
    y = torch.tensor(labels)
    tr, te = train_test_split(range(len(x)), test_size=0.3, random_state=seed, stratify=labels)
    return x[tr], y[tr], x[te], y[te]


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    out = model(x)
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--alpha", type=float, default=1.0)
    parser.add_argument("--smoothing", type=float, default=0.1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    x, y, xt, yt = load(args.seed)
    model = Net()
    beta = torch.distributions.Beta(args.alpha, args.alpha)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=1e-2)
    steps = args.epochs * ((len(x) + 63) // 64)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=5e-3, total_steps=steps)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = hits = 0.0
        for idx in torch.randperm(len(x)).split(64):
            xb, ya, yb, lam = blend(x[idx], y[idx], beta)
            out = model(xb)
            loss = lam * F.cross_entropy(out, ya, label_smoothing=args.smoothing) \
                + (1 - lam) * F.cross_entropy(out, yb, label_smoothing=args.smoothing)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item() * len(idx)
            hits += (out.argmax(1) == ya).sum().item()
        test_loss, acc = evaluate(model, xt, yt)
        print(f"epoch {epoch:2d}  train loss {total / len(x):.3f}  train acc {hits / len(x):.3f}"
              f"  test loss {test_loss:.3f}  test acc {acc:.3f}")


if __name__ == "__main__":
    main()
