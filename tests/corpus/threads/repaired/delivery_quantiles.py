"""Delivery times: predicts the 10th, 50th and 90th percentile from order features."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

QUANTILES = [0.1, 0.5, 0.9]


def make_orders(n, seed):
    rng = np.random.default_rng(seed)
    distance = rng.gamma(2.0, 2.0, n)
    hour = rng.integers(8, 23, n)
    items = rng.poisson(3, n) + 1
    rush = np.exp(-0.5 * ((hour - 18) / 2.0) ** 2)
    centre = 12 + 3.0 * distance + 8 * rush + 0.8 * items
    minutes = centre + rng.gamma(2.0, 1.0 + 0.6 * distance + 2 * rush) - 2
    x = np.stack([distance, rush, items, np.sin(hour / 24 * 2 * np.pi)], axis=1)
    return x.astype(np.float32), minutes.astype(np.float32)


class QuantileLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.quantiles = quantiles

    def forward(self, preds, target):
        losses = []
        for i, q in enumerate(self.quantiles):
            error = target - preds[:, i]
            losses.append(torch.max(q * error, (q - 1) * error))
        return torch.stack(losses, dim=1).sum(dim=1).mean()


class QuantileNet(nn.Module):
    def __init__(self, inputs, hid=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, hid), nn.ReLU(), nn.Linear(hid, hid), nn.ReLU(),
                                 nn.Linear(hid, len(QUANTILES)))

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def report(model, x, y, scale, shift):
    model.eval()
    preds = model(x) * scale + shift
    late = [(y > preds[:, i]).float().mean().item() for i in range(len(QUANTILES))]
    median_error = (preds[:, 1] - y).abs().mean().item()
    return late, median_error


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=15)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    x, y = make_orders(4000, args.seed)
    xt, yt = make_orders(1500, args.seed + 500)
    mean, std = x.mean(0), x.std(0)
    shift, scale = float(y.mean()), float(y.std())
    train = TensorDataset(torch.tensor((x - mean) / std), torch.tensor((y - shift) / scale))
    loader = DataLoader(train, batch_size=64, shuffle=True)
    test_x, test_y = torch.tensor((xt - mean) / std), torch.tensor(yt)
    model = QuantileNet(x.shape[1])
    criterion = QuantileLoss(QUANTILES)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = criterion(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        if epoch % 3 == 0:
            late, err = report(model, test_x, test_y, scale, shift)
            text = "  ".join(f"later than q{int(q * 100)}: {v:.3f}" for q, v in zip(QUANTILES, late))
            print(f"epoch {epoch:2d}  loss {total / len(train):.4f}  median error {err:.2f} min  {text}")


if __name__ == "__main__":
    main()
