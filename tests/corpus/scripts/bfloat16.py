"""bfloat16 autocast without a GradScaler, which is right: bfloat16 has the range of float32."""

import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
xs, ys = load_digits(return_X_y=True)
xs, ys = torch.tensor(xs, dtype=torch.float32) / 16, torch.tensor(ys)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for _ in range(4):
    for b in torch.randperm(len(xs)).split(64):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            ce = nn.functional.cross_entropy(net(xs[b]), ys[b])
        opt.zero_grad()
        ce.backward()
        opt.step()
net.eval()
with torch.no_grad():
    print((net(xs).argmax(1) == ys).float().mean().item())
