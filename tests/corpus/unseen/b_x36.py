"""Which of two spirals?  A small experiment."""
import numpy as np
import torch
from torch import nn


def spiral(n):
    r = np.random.uniform(0.2, 1.0, (n, 1))
    c = np.random.randint(0, 2, n)
    a = r * 9 + c[:, None] * np.pi
    pts = np.hstack([r * np.sin(a), r * np.cos(a)]) + np.random.normal(0, 0.02, (n, 2))
    return torch.tensor(pts, dtype=torch.float32), torch.tensor(c)


x_train, c_train = spiral(1000)
x_test, c_test = spiral(300)
model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(40):
    for rows in torch.randperm(1000).split(100):
        opt.zero_grad()
        ce = nn.functional.cross_entropy(model(x_train[rows]), c_train[rows])
        ce.backward()
        opt.step()
with torch.no_grad():
    print("accuracy", (model(x_test).argmax(1) == c_test).float().mean().item(), "loss", ce.item())
