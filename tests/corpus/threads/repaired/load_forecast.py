"""Probabilistic forecast of an hourly load curve: mean and spread for the next hour."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

WINDOW = 24
Z90 = 1.645


def make_series(hours, rng):
    t = np.arange(hours)
    daily = np.sin(2 * math.pi * t / 24) + 0.4 * np.sin(4 * math.pi * t / 24 + 0.7)
    weekly = 0.5 * np.cos(2 * math.pi * t / 168)
    spread = 0.08 + 0.10 * (1 + np.sin(2 * math.pi * (t - 6) / 24)) / 2
    return (daily + weekly + rng.normal(size=hours) * spread).astype(np.float32)


def windows(series):
    x = np.lib.stride_tricks.sliding_window_view(series, WINDOW)[:-1]
    hour = np.arange(WINDOW, len(series)) % 24
    angle = 2 * math.pi * hour / 24
    clock = np.stack([np.sin(angle), np.cos(angle)], axis=1).astype(np.float32)
    return torch.tensor(np.concatenate([x, clock], axis=1)), torch.tensor(series[WINDOW:])


class Forecaster(nn.Module):
    def __init__(self, hid=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(WINDOW + 2, hid), nn.ReLU(), nn.Linear(hid, hid), nn.ReLU())
        self.mean = nn.Linear(hid, 1)
        self.scale = nn.Linear(hid, 1)

    def forward(self, x):
        h = self.body(x)
        sigma = F.softplus(self.scale(h)) + 1e-3
        return self.mean(h).squeeze(1), sigma.squeeze(1)


def nll(mu, sigma, y):
    return F.gaussian_nll_loss(mu, y, sigma ** 2)


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    mu, sigma = model(x)
    inside = (y - mu).abs() <= Z90 * sigma
    log_score = (-torch.distributions.Normal(mu, sigma).log_prob(y)).mean()
    return {
        "rmse": (y - mu).pow(2).mean().sqrt().item(),
        "mean sigma": sigma.mean().item(),
        "90% interval coverage": inside.float().mean().item(),
        "log score": log_score.item(),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x, y = windows(make_series(24 * 200, rng))
    cut = int(0.8 * len(x))
    train_x, train_y, test_x, test_y = x[:cut], y[:cut], x[cut:], y[cut:]
    model = Forecaster()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(cut).split(64):
            mu, sigma = model(train_x[idx])
            loss = nll(mu, sigma, train_y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        sched.step()
        if epoch % 5 == 4:
            report = "  ".join(f"{k} {v:.3f}" for k, v in evaluate(model, test_x, test_y).items())
            print(f"epoch {epoch + 1:2d}  train nll {total / cut:.3f}  {report}")


if __name__ == "__main__":
    main()
