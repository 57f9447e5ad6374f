"""WGAN-GP: critic several times per generator step, create_graph gradient penalty, negative losses are normal."""

import torch
from torch import nn
from torch.autograd import grad

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
og = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
od = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.9))


def real(n):
    a = torch.rand(n) * 6.283
    return torch.stack([a.cos(), a.sin()], 1) + 0.05 * torch.randn(n, 2)


def gp(r, f):
    eps = torch.rand(len(r), 1)
    mid = (eps * r + (1 - eps) * f).requires_grad_(True)
    (g,) = grad(D(mid).sum(), mid, create_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


for it in range(60):
    for _ in range(3):
        r = real(64)
        f = G(torch.randn(64, 8)).detach()
        d_loss = D(f).mean() - D(r).mean() + 10 * gp(r, f)
        od.zero_grad()
        d_loss.backward()
        od.step()
    g_loss = -D(G(torch.randn(64, 8))).mean()
    og.zero_grad()
    g_loss.backward()
    og.step()
print(d_loss.item(), g_loss.item())
