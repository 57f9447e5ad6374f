"""Surrogate for a vibrating plate: sensor readings to a displacement field (metres)."""
import argparse

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--device", default="cpu")
ap.add_argument("--amp", type=int, default=1)
ap.add_argument("--steps", type=int, default=240)
args = ap.parse_args([])

torch.manual_seed(0)
GRID, SENSORS, BATCH = 128, 8, 128
modes = torch.stack([torch.sin((k + 1) * torch.linspace(0, 3.14159, GRID)) for k in range(6)])
pick = torch.linspace(4, GRID - 5, SENSORS).long()


def plates(n):
    amp = torch.randn(n, 6) / torch.arange(1, 7)
    field = 2e-3 * amp @ modes
    return field[:, pick] * 500, field


class Surrogate(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(SENSORS, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.field = nn.Linear(width, GRID)
        nn.init.normal_(self.field.weight, std=1e-4)
        nn.init.zeros_(self.field.bias)

    def forward(self, x):
        return self.field(self.body(x))


model = Surrogate().to(args.device)
opt = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-14)
val_x, val_y = plates(300)
for step in range(1, args.steps + 1):
    x, y = plates(BATCH)
    with torch.autocast(device_type=args.device, dtype=torch.float16, enabled=bool(args.amp)):
        pred = model(x)
    loss = ((pred.float() - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 60 == 0:
        with torch.no_grad():
            rel = ((model(val_x) - val_y).norm() / val_y.norm()).item()
        print(f"step {step} loss {loss.item():.3e} relative error {rel:.4f}")
