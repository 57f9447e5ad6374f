"""Contrastive (InfoNCE) with two noisy views, then a linear probe on the frozen encoder."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

g = torch.Generator().manual_seed(0)
torch.manual_seed(0)
b = load_digits()
data = torch.tensor(b.data, dtype=torch.float32) / 16
labels = torch.tensor(b.target)
enc = nn.Sequential(nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 48))
proj = nn.Sequential(nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 16))
opt = torch.optim.Adam([*enc.parameters(), *proj.parameters()], lr=2e-3)
tau = 0.2


def view(x):
    return x + 0.15 * torch.randn_like(x)


for it in range(120):
    x = data[torch.randint(1400, (96,), generator=g)]
    za, zb = F.normalize(proj(enc(view(x))), dim=1), F.normalize(proj(enc(view(x))), dim=1)
    sim = za @ zb.T / tau
    nce = (F.cross_entropy(sim, torch.arange(96)) + F.cross_entropy(sim.T, torch.arange(96))) / 2
    opt.zero_grad()
    nce.backward()
    opt.step()

enc.eval()
for p in enc.parameters():
    p.requires_grad_(False)
probe = nn.Linear(48, 10)
popt = torch.optim.SGD(probe.parameters(), lr=0.5, momentum=0.9)
feats = enc(data)
for it in range(60):
    i = torch.randint(1400, (128,), generator=g)
    out = F.cross_entropy(probe(feats[i]), labels[i])
    popt.zero_grad()
    out.backward()
    popt.step()
print("probe acc", (probe(feats[1400:]).argmax(1) == labels[1400:]).float().mean().item())
