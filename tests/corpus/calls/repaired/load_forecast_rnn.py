"""Next-hour load forecast: frozen calendar features + RNN, squared error, SGD with norm clipping."""
import argparse
import math

import torch
from torch import nn


def parse():
    ap = argparse.ArgumentParser(description="hourly load forecast")
    ap.add_argument("--hidden", type=int, default=48)
    ap.add_argument("--window", type=int, default=36)
    ap.add_argument("--iters", type=int, default=700)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--momentum", type=float, default=0.9)
    ap.add_argument("--max-grad-norm", type=float, default=0.5)
    ap.add_argument("--seed", type=int, default=3)
    return ap.parse_args()


def hourly_series(n, gen):
    t = torch.arange(n).float()
    base = torch.sin(2 * math.pi * t / 24) + 0.4 * torch.sin(2 * math.pi * t / 168)
    noise = 0.1 * torch.randn(n, generator=gen)
    spikes = (torch.rand(n, generator=gen) < 0.01).float() * (10 + 30 * torch.rand(n, generator=gen))
    return base + noise + spikes


class CalendarFeatures(nn.Module):
    """Fixed sine basis over the hour of the day, taken from an earlier model."""

    def __init__(self, dim=8):
        super().__init__()
        hours = torch.arange(24).float()[:, None]
        freq = torch.arange(1, dim // 2 + 1).float()[None]
        table = torch.cat([torch.sin(2 * math.pi * hours * freq / 24), torch.cos(2 * math.pi * hours * freq / 24)], 1)
        self.table = nn.Embedding.from_pretrained(table, freeze=True)

    def forward(self, hour):
        return self.table(hour)


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.calendar = CalendarFeatures()
        self.rnn = nn.RNN(9, hidden, batch_first=True, nonlinearity="relu")
        self.out = nn.Linear(hidden, 1)

    def forward(self, load, hour):
        x = torch.cat([load.unsqueeze(-1), self.calendar(hour)], -1)
        return self.out(self.rnn(x)[0][:, -1]).squeeze(-1)


def batch(series, window, size, gen):
    start = torch.randint(0, len(series) - window - 1, (size,), generator=gen)
    idx = start[:, None] + torch.arange(window)[None]
    return series[idx], idx % 24, series[start + window]


@torch.no_grad()
def evaluate(model, series, window):
    model.eval()
    start = torch.arange(0, len(series) - window - 1)
    idx = start[:, None] + torch.arange(window)[None]
    pred = model(series[idx], idx % 24)
    model.train()
    return (pred - series[start + window]).abs().median().item()


def main():
    args = parse()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    series = hourly_series(9000, gen)
    train, test = series[:7200], series[7200:]
    model = Forecaster(args.hidden)
    trainable = list(filter(lambda p: p.requires_grad, model.parameters()))
    optimizer = torch.optim.SGD(trainable, lr=args.lr, momentum=args.momentum)
    criterion = nn.MSELoss()
    running = None
    for it in range(1, args.iters + 1):
        load, hour, target = batch(train, args.window, 32, gen)
        loss = criterion(model(load, hour), target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trainable, args.max_grad_norm)
        optimizer.step()
        running = loss.item() if running is None else 0.95 * running + 0.05 * loss.item()
        if it % 100 == 0:
            print(f"iter {it:4d}  mse {running:.4f}  test median abs error {evaluate(model, test, args.window):.4f}")


if __name__ == "__main__":
    main()
