"""Shared trunk, two heads (classification and regression), learned uncertainty weights."""

import torch
from sklearn.datasets import load_digits
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.heads = nn.ModuleDict({"digit": nn.Linear(32, 10), "ink": nn.Linear(32, 1)})
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        z = self.trunk(x)
        return {k: h(z) for k, h in self.heads.items()}


def total(out, digit, ink, log_vars):
    a = nn.functional.cross_entropy(out["digit"], digit)
    b = nn.functional.mse_loss(out["ink"].squeeze(1), ink)
    return (torch.exp(-log_vars) * torch.stack([a, b]) + log_vars).sum()


def run():
    torch.manual_seed(0)
    raw = load_digits()
    x = torch.tensor(raw.data).float() / 16
    ink = x.mean(1)
    ink = (ink - ink.mean()) / ink.std()
    t = torch.tensor(raw.target)
    m = MultiTask()
    o = torch.optim.AdamW(m.parameters(), lr=3e-3)
    for e in range(5):
        for i in torch.randperm(1500).split(50):
            o.zero_grad()
            L = total(m(x[i]), t[i], ink[i], m.log_vars)
            L.backward()
            o.step()
    with torch.no_grad():
        print((m(x[1500:])["digit"].argmax(1) == t[1500:]).float().mean())


run()
