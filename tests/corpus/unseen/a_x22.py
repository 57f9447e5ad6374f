"""SimCLR on toy vectors; the loss written from the paper's formula."""
import torch
from torch import nn
from torch.nn.functional import normalize

torch.manual_seed(34)
protos = torch.randn(12, 20)


def two_views(n):
    k = torch.randint(0, 12, (n,))
    return protos[k] + 1.2 * torch.randn(n, 20), protos[k] + 1.2 * torch.randn(n, 20), k


projector = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
adam = torch.optim.Adam(projector.parameters(), lr=2e-3)


def ntxent(za, zb, temperature):
    sim = za @ zb.T / temperature
    sim = sim - sim.max(1, keepdim=True).values.detach()
    e = torch.exp(sim)
    share = e.diagonal() / e.sum(1)
    return -torch.log(share).mean()


temperature = 0.5
for k in range(200):
    a, b, _ = two_views(64)
    za, zb = normalize(projector(a), dim=1), normalize(projector(b), dim=1)
    contrast = ntxent(za, zb, temperature)
    adam.zero_grad()
    contrast.backward()
    adam.step()
    if k == 90:
        temperature = 0.002  # sharpen for the second half
    if k % 25 == 0:
        print(k, temperature, contrast.item())
