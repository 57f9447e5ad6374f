"""Forecast several steps of a noisy seasonal load curve with one encoder."""
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(os.environ.get("SEED", 0))
HORIZONS = [1, 2, 4, 8, 12]
WINDOW = 36


def make_series(length, rng):
    t = np.arange(length)
    daily = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24 + 0.7)
    slow = 0.5 * np.sin(2 * np.pi * t / 310)
    ar = np.zeros(length)
    for i in range(1, length):
        ar[i] = 0.8 * ar[i - 1] + rng.normal(0, 0.12)
    return (daily + slow + ar).astype(np.float32)


def windows(series):
    last = len(series) - WINDOW - max(HORIZONS)
    x = np.stack([series[i:i + WINDOW] for i in range(last)])
    y = np.stack([[series[i + WINDOW + h - 1] for h in HORIZONS] for i in range(last)])
    return torch.from_numpy(x), torch.from_numpy(y)


class ForecastHead(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 32), nn.GELU(), nn.Linear(32, 1))

    def forward(self, h):
        return self.net(h)


class Forecaster(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, 24, 5, padding=2), nn.GELU(),
            nn.Conv1d(24, 24, 5, stride=2, padding=2), nn.GELU(),
            nn.Flatten(),
            nn.Linear(24 * WINDOW // 2, dim), nn.GELU(),
        )
        self.heads = nn.ModuleList([ForecastHead(dim) for _ in HORIZONS])

    def forward(self, x):
        h = self.encoder(x.unsqueeze(1))
        return torch.cat([head(h) for head in self.heads], dim=1)


def rmse_per_horizon(model, x, y):
    model.eval()
    with torch.no_grad():
        err = model(x) - y
    return err.pow(2).mean(dim=0).sqrt()


def main():
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    series = make_series(4200, rng)
    cut = 3200
    mean, std = series[:cut].mean(), series[:cut].std()
    series = (series - mean) / std
    x_train, y_train = windows(series[:cut])
    x_test, y_test = windows(series[cut:])
    loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)

    model = Forecaster()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=24)
    for epoch in range(24):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        sched.step()
        if epoch % 4 == 3:
            r = rmse_per_horizon(model, x_test, y_test)
            print(f"epoch {epoch + 1:2d} train mse {total / len(x_train):.4f} "
                  f"test rmse {r.mean():.4f}")

    r = rmse_per_horizon(model, x_test, y_test)
    for h, v in zip(HORIZONS, r.tolist()):
        print(f"  +{h:2d} steps: rmse {v:.4f}")
    print(f"mean rmse {r.mean().item():.4f}")


if __name__ == "__main__":
    main()
