"""Kernel two-sample training: match a generator's samples to data by MMD."""
import torch
from torch import nn

torch.manual_seed(1)
BATCH = 600_000


def data(n):
    return torch.randn(n, 2) @ torch.tensor([[1.0, 0.6], [0.0, 0.5]]) + torch.tensor([2.0, -1.0])


def kernel(a, b, width=1.0):
    sq = (a[:, None, :] - b[None, :, :]).pow(2).sum(-1)
    return torch.exp(-sq / (2 * width**2))


def mmd(a, b):
    return kernel(a, a).mean() + kernel(b, b).mean() - 2 * kernel(a, b).mean()


net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(200):
    samples = net(torch.randn(BATCH, 2))
    loss = mmd(samples, data(BATCH))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(step, loss.item())
