"""A sine with a neural ODE flavour (Euler steps); history kept for a plot."""
import math

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, z, n, dt=0.15):
        path = [z]
        for _ in range(n):
            z = z + dt * self.f(z)
            path.append(z)
        return torch.stack(path, 1)


class Fitter:
    def __init__(self, seed=0):
        torch.manual_seed(seed)
        self.field = Field()
        self.optimizer = torch.optim.Adam(self.field.parameters(), lr=1e-2)
        self.losses = []

    def data(self, n=48, k=12):
        phi = torch.rand(n, 1) * 2 * math.pi
        t = phi + 0.15 * torch.arange(k + 1)
        return torch.stack([t.sin(), t.cos()], -1)

    def step(self):
        truth = self.data()
        loss = (self.field(truth[:, 0], truth.shape[1] - 1) - truth).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss)

    def report(self):
        recent = torch.stack(self.losses[-20:]).mean().item()
        print(f"{len(self.losses):4d} steps, recent loss {recent:.5f}")


if __name__ == "__main__":
    fitter = Fitter()
    for i in range(1, 241):
        fitter.step()
        if i % 60 == 0:
            fitter.report()
