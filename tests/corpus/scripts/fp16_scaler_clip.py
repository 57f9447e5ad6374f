"""fp16 on CPU: GradScaler with unscale_ and clipping, accumulation of 2 micro-batches, nn.Module subclass with **kwargs."""

import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, *, pixels, normalise=True):
        h = pixels / 16 if normalise else pixels
        for layer in self.layers[:-1]:
            h = nn.functional.silu(layer(h))
        return self.layers[-1](h)


digits = load_digits()
pix, lab = torch.tensor(digits.data, dtype=torch.float32), torch.tensor(digits.target)
mlp = MLP([64, 48, 10])
opt = torch.optim.Adam(mlp.parameters(), lr=2e-3)
xent = nn.CrossEntropyLoss()
for epoch in range(3):
    opt.zero_grad()
    for n, rows in enumerate(torch.randperm(1440).split(32), 1):
        with torch.autocast("cpu", torch.float16):
            micro = xent(mlp(pixels=pix[rows]), lab[rows]) / 2
        scaler.scale(micro).backward()
        if n % 2 == 0:
            scaler.unscale_(opt)
            nn.utils.clip_grad_norm_(mlp.parameters(), 1.0)
            scaler.step(opt)
            scaler.update()
            opt.zero_grad()
    print(epoch, micro.item() * 2)
