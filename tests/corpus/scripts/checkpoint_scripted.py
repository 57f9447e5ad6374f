"""Activation checkpointing, weight_norm parametrisation, spectral norm, Lion-like custom optimiser subclass."""

import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm
from torch.utils.checkpoint import checkpoint


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99)):
        super().__init__(params, dict(lr=lr, betas=betas))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                st = self.state[p]
                if not st:
                    st["m"] = torch.zeros_like(p)
                b1, b2 = group["betas"]
                p.add_((st["m"] * b1 + p.grad * (1 - b1)).sign(), alpha=-group["lr"])
                st["m"].mul_(b2).add_(p.grad, alpha=1 - b2)


class Deep(nn.Module):
    def __init__(self, depth=4, w=48):
        super().__init__()
        self.inp = weight_norm(nn.Linear(8, w))
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(w, w), nn.GELU()) for _ in range(depth)])
        self.out = nn.Linear(w, 4)

    def forward(self, x):
        h = self.inp(x)
        for b in self.blocks:
            h = h + checkpoint(b, h, use_reentrant=False)
        return self.out(h)


torch.manual_seed(3)
W = torch.randn(8, 4)
net = Deep()
lion = Lion(net.parameters(), lr=1e-3)
for k in range(120):
    x = torch.randn(64, 8)
    t = (x @ W).argmax(1)
    lion.zero_grad()
    nn.functional.cross_entropy(net(x), t).backward()
    lion.step()
with torch.no_grad():
    x = torch.randn(500, 8)
    print((net(x).argmax(1) == (x @ W).argmax(1)).float().mean().item())
