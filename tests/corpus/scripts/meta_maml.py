"""MAML on sine waves: inner update by autograd.grad with functional_call, outer Adam; one backward over several tasks."""

import math

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-3)


def task():
    amp, phase = torch.rand(()) * 4.9 + 0.1, torch.rand(()) * math.pi
    return lambda x: amp * torch.sin(x + phase)


for outer in range(40):
    meta.zero_grad()
    total = 0
    for _ in range(4):
        f = task()
        xs, xq = torch.rand(10, 1) * 10 - 5, torch.rand(10, 1) * 10 - 5
        fast = dict(net.named_parameters())
        inner = nn.functional.mse_loss(functional_call(net, fast, (xs,)), f(xs))
        g = torch.autograd.grad(inner, list(fast.values()), create_graph=True)
        fast = {k: v - 0.01 * d for (k, v), d in zip(fast.items(), g)}
        total = total + nn.functional.mse_loss(functional_call(net, fast, (xq,)), f(xq))
    total.backward()
    meta.step()
print(total.item() / 4)
