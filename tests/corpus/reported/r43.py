"""Physics-informed network for u'' = -sin(x) on [0, pi]; Adam first, then L-BFGS."""
import math

import torch
from torch import nn

torch.manual_seed(66)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
x = torch.linspace(0, math.pi, 50).unsqueeze(1).requires_grad_(True)
edge = torch.tensor([[0.0], [math.pi]])


def residual():
    u = net(x)
    du = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    ddu = torch.autograd.grad(du.sum(), x, create_graph=True)[0]
    return ddu + torch.sin(x)


def objective():
    return residual().pow(2).mean() + 10 * net(edge).pow(2).mean()


adam = torch.optim.Adam(net.parameters(), lr=5e-3)
for it in range(150):
    adam.zero_grad()
    loss = objective()
    loss.backward()
    adam.step()
print(f"after Adam {loss.item():.3e}")

lbfgs = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=10, history_size=20, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    value = objective()
    value.backward()
    return value


for it in range(1, 13):
    loss = lbfgs.step(closure)
    if it % 4 == 0:
        with torch.no_grad():
            err = (net(x) - torch.sin(x)).abs().max()
        print(f"L-BFGS round {it} objective {loss.item():.3e} max error {err:.4f}")
