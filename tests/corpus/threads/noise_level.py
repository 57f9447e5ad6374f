"""Regression with a predicted noise level for every point (Gaussian likelihood)."""
import argparse
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--n", type=int, default=3000)
    p.add_argument("--epochs", type=int, default=60)
    p.add_argument("--batch-size", type=int, default=100)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def true_sigma(x):
    return 0.02 + 0.10 * torch.sigmoid(4 * x[:, :1])


def sample(n, gen):
    x = torch.rand(n, 3, generator=gen) * 2 - 1
    f = torch.sin(3 * x[:, :1]) * x[:, 1:2] + 0.5 * x[:, 2:3] ** 2
    return x, f + true_sigma(x) * torch.randn(n, 1, generator=gen)


class MeanAndScale(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.mean = nn.Linear(hidden, 1)
        self.log_sigma = nn.Linear(hidden, 1)
        nn.init.zeros_(self.log_sigma.weight)
        nn.init.zeros_(self.log_sigma.bias)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_sigma(h).clamp(-5, 2)


def nll(mean, log_sigma, y):
    z = (y - mean) * torch.exp(-log_sigma)
    return (0.5 * z ** 2 + log_sigma + 0.5 * math.log(2 * math.pi)).mean()


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    mean, log_sigma = model(x)
    sigma = log_sigma.exp()
    inside = ((y - mean).abs() < 1.96 * sigma).float().mean().item()
    ratio = (sigma / true_sigma(x)).log().abs().mean().exp().item()
    return nll(mean, log_sigma, y).item(), (y - mean).pow(2).mean().sqrt().item(), inside, ratio


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    train = sample(args.n, gen)
    test = sample(1500, gen)
    loader = DataLoader(TensorDataset(*train), batch_size=args.batch_size, shuffle=True)
    model = MeanAndScale()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = nll(*model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(yb)
        sched.step()
        if epoch % 10 == 0:
            t_nll, rmse, inside, ratio = evaluate(model, *test)
            print(f"epoch {epoch:2d}  train nll {total / args.n:.3f}  test nll {t_nll:.3f}  rmse {rmse:.3f}"
                  f"  within 95% band {inside:.3f}  sigma off by x{ratio:.2f}")
    with torch.no_grad():
        print(f"test nll of the true curve would be {(true_sigma(test[0]).log().mean() + 0.5 * math.log(2 * math.pi) + 0.5).item():.3f}")


if __name__ == "__main__":
    main()
