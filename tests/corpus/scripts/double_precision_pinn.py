"""Physics-informed net in float64: u'' = -sin(x), derivatives by torch.autograd.grad(create_graph), full batch Adam then LBFGS."""

import torch
from torch import nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
u = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
x = torch.linspace(0, 3.141592653589793, 40).view(-1, 1).requires_grad_(True)
edge = torch.tensor([[0.0], [3.141592653589793]])


def residual():
    y = u(x)
    (dy,) = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)
    (ddy,) = torch.autograd.grad(dy, x, torch.ones_like(dy), create_graph=True)
    return (ddy + torch.sin(x)).pow(2).mean() + u(edge).pow(2).mean()


adam = torch.optim.Adam(u.parameters(), lr=1e-2)
for i in range(150):
    adam.zero_grad()
    pde = residual()
    pde.backward()
    adam.step()
lbfgs = torch.optim.LBFGS(u.parameters(), max_iter=20, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    pde = residual()
    pde.backward()
    return pde


lbfgs.step(closure)
print(pde.item(), (u(x) - torch.sin(x)).abs().max().item())
