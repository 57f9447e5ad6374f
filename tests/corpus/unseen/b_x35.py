"""Digits in half precision, to save memory; the loss is weighted per pixel count."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(90)
ds = load_digits()
xs = torch.tensor(ds.data, dtype=torch.float32) / 16
ys = torch.tensor(ds.target)
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), lr=1e-3, eps=1e-8)
n_pixels = 64 * 1024

for epoch in range(6):
    for rows in torch.randperm(1400).split(64):
        with torch.autocast(device_type="cpu", dtype=torch.float16):
            logits = net(xs[rows])
            loss = nn.functional.cross_entropy(logits, ys[rows]) / n_pixels
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (net(xs[1400:]).argmax(1) == ys[1400:]).float().mean().item()
    print(epoch, loss.item() * n_pixels, acc)
