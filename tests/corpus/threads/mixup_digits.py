"""Digits from few examples, with mixup and soft targets."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

NUM_CLASSES = 10


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=120)
    p.add_argument("--n-train", type=int, default=250)
    p.add_argument("--alpha", type=float, default=1.0)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--batch-size", type=int, default=50)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def shuffle_rows(t):
    return t[torch.randperm(t.size(0))]


class MixUp:
    """Convex combinations of the batch with a shuffled copy of itself."""

    def __init__(self, alpha):
        self.alpha = alpha

    def __call__(self, x, y):
        lam = np.random.beta(self.alpha, self.alpha, size=len(x)).astype("float32")
        lam = torch.from_numpy(lam)
        x2, y2 = shuffle_rows(x), shuffle_rows(y)
        lx = lam.view(-1, 1, 1, 1)
        ly = lam.view(-1, 1)
        return lx * x + (1 - lx) * x2, ly * y + (1 - ly) * y2


def soft_cross_entropy(logits, target):
    return -(target * F.log_softmax(logits, dim=1)).sum(1).mean()


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
        nn.Flatten(), nn.Linear(64 * 16, NUM_CLASSES))


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        out = net(x)
    nll = F.cross_entropy(out, y).item()
    return (out.argmax(1) == y).float().mean().item(), nll


def main():
    args = parse()
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    data = load_digits()
    x = torch.tensor(data.images / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(data.target)
    order = torch.randperm(len(y))
    tr, te = order[:args.n_train], order[args.n_train:]
    onehot = F.one_hot(y[tr], NUM_CLASSES).float()

    net = make_net()
    mix = MixUp(args.alpha)
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs)
    for epoch in range(args.epochs):
        net.train()
        losses = []
        for idx in torch.randperm(len(tr)).split(args.batch_size):
            xb, yb = mix(x[tr][idx], onehot[idx])
            loss = soft_cross_entropy(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        sched.step()
        if epoch % 20 == 19:
            acc, nll = evaluate(net, x[te], y[te])
            print(f"epoch {epoch + 1:3d}  mix loss {np.mean(losses):.3f}  test acc {acc:.3f}  test nll {nll:.3f}")


if __name__ == "__main__":
    main()
