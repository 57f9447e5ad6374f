"""float16 autocast with a GradScaler, unscaled before clipping."""

import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
xs, ys = load_digits(return_X_y=True)
xs, ys = (torch.tensor(xs, dtype=torch.float32) / 16).to(device), torch.tensor(ys).to(device)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
grad_scaler = torch.amp.GradScaler(device)
for _ in range(3):
    for b in torch.randperm(len(xs)).split(64):
        opt.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            ce = nn.functional.cross_entropy(net(xs[b]), ys[b])
        grad_scaler.scale(ce).backward()
        grad_scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        grad_scaler.step(opt)
        grad_scaler.update()
print(ce.item())
