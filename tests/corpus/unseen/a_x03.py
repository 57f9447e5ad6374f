"""Regression that also tells how sure it is: the likelihood is a density, so the loss may fall below zero."""
import math
import torch
from torch import nn


class Gauss(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, 40), nn.SiLU(), nn.Linear(40, 40), nn.SiLU())
        self.loc, self.logscale = nn.Linear(40, 1), nn.Linear(40, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.loc(h), self.logscale(h).clamp(-6, 3)


def nll(mu, ls, y):
    return (ls + 0.5 * ((y - mu) / ls.exp()).square() + 0.5 * math.log(2 * math.pi)).mean()


def sample(n):
    x = torch.rand(n, 1) * 4 - 2
    sd = 0.02 + 0.08 * (x > 0)
    return x, torch.sin(2 * x) + sd * torch.randn(n, 1)


torch.manual_seed(66)
g = Gauss()
opt = torch.optim.Adam(g.parameters(), lr=4e-3)
plan = torch.optim.lr_scheduler.StepLR(opt, 150, 0.3)
for it in range(450):
    x, y = sample(128)
    mu, ls = g(x)
    objective = nll(mu, ls, y)
    opt.zero_grad()
    objective.backward()
    opt.step()
    plan.step()
    if it % 90 == 0:
        print(it, objective.item())
x, y = sample(4000)
with torch.no_grad():
    mu, ls = g(x)
    print("nll", nll(mu, ls, y).item(), "scale left/right", ls[x < 0].exp().mean().item(), ls[x > 0].exp().mean().item())
