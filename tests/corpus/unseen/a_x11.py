"""A network that solves u'' = -u, u(0) = 0, u'(0) = 1: derivatives by autograd, twice."""
import math

import torch
from torch import autograd, nn


class Solution(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, t):
        return self.h(t)


def slope(u, t):
    return autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]


torch.manual_seed(6)
sol = Solution()
opt = {"adam": torch.optim.Adam(sol.parameters(), lr=5e-3)}
fall = torch.optim.lr_scheduler.ExponentialLR(opt["adam"], 0.997)
zero = torch.zeros(1, 1, requires_grad=True)
for r in range(600):
    t = (torch.rand(64, 1) * math.pi).requires_grad_()
    u = sol(t)
    physics = (slope(slope(u, t), t) + u).square().mean()
    u0 = sol(zero)
    start = u0.square().sum() + (slope(u0, zero) - 1).square().sum()
    opt["adam"].zero_grad()
    (physics + start).backward()
    opt["adam"].step()
    fall.step()
    if r % 100 == 0:
        print(r, physics.item(), start.item())
with torch.no_grad():
    t = torch.linspace(0, math.pi, 50)[:, None]
    print("largest error", (sol(t) - t.sin()).abs().max().item())
