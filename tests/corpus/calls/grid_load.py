"""Electric load from weather and the hour counter, trained under bfloat16 autocast."""
import argparse
import math

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=14)
parser.add_argument("--epochs", type=int, default=25)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--lr", type=float, default=3e-3)
args = parser.parse_args()
torch.manual_seed(args.seed)

HOURS = 6000


def history():
    hour = torch.arange(HOURS, dtype=torch.float32)
    weather = torch.randn(HOURS, 4)
    daily = torch.sin(2 * math.pi * hour / 24 - 1.0) + 0.5 * torch.sin(4 * math.pi * hour / 24)
    weekly = 0.7 * torch.cos(2 * math.pi * hour / 168)
    load = daily * (1 + 0.3 * weather[:, 0].tanh()) + weekly + 0.4 * weather[:, 1] + 0.15 * torch.randn(HOURS)
    return hour, weather, (load - load.mean()) / load.std()


class TimeEncoding(nn.Module):
    def __init__(self, periods=(12.0, 24.0, 84.0, 168.0)):
        super().__init__()
        self.register_buffer("omega", 2 * math.pi / torch.tensor(periods))

    def forward(self, hour):
        phase = hour.unsqueeze(1) @ self.omega.unsqueeze(0)
        return torch.cat([phase.sin(), phase.cos()], dim=1)


class LoadModel(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.time = TimeEncoding()
        self.mlp = nn.Sequential(
            nn.Linear(4 + 8, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1)
        )

    def forward(self, hour, weather):
        return self.mlp(torch.cat([weather, self.time(hour)], dim=1)).squeeze(1)


@torch.no_grad()
def r2(model, hour, weather, load):
    model.eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        pred = model(hour, weather)
    residual = ((pred.float() - load) ** 2).sum()
    return (1 - residual / ((load - load.mean()) ** 2).sum()).item()


def main():
    hour, weather, load = history()
    order = torch.randperm(HOURS)
    train, test = order[:4800], order[4800:]
    model = LoadModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for idx in train[torch.randperm(len(train))].split(args.batch):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                pred = model(hour[idx], weather[idx])
            loss = nn.functional.mse_loss(pred.float(), load[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        scheduler.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d} mse {total / len(train):.4f} test R2 {r2(model, hour[test], weather[test], load[test]):.3f}")


if __name__ == "__main__":
    main()
