"""GAN on a ring of Gaussians; critic and generator take turns."""
import math

import torch
from torch import nn

torch.manual_seed(13)


def real(n):
    k = torch.randint(0, 6, (n,)) * (2 * math.pi / 6)
    return torch.stack([k.cos(), k.sin()], 1) * 2 + 0.1 * torch.randn(n, 2)


def mlp(i, o, act):
    return nn.Sequential(nn.Linear(i, 64), act, nn.Linear(64, 64), act, nn.Linear(64, o))


G, D = mlp(4, 2, nn.ReLU()), mlp(2, 1, nn.LeakyReLU(0.2))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
B = 128
ones, zeros = torch.ones(B, 1), torch.zeros(B, 1)

for it in range(1, 601):
    x, z = real(B), torch.randn(B, 4)
    fake = G(z)
    d_loss = bce(D(x), 0.9 * ones) + bce(D(fake.detach()), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    for p in D.parameters():
        p.requires_grad_(False)
    g_loss = bce(D(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    for p in D.parameters():
        p.requires_grad_(True)

    if it % 150 == 0:
        with torch.no_grad():
            s = G(torch.randn(1000, 4))
        near = ((s.norm(dim=1) - 2).abs() < 0.4).float().mean()
        sectors = ((torch.atan2(s[:, 1], s[:, 0]) / (math.pi / 3)).round() % 6).unique().numel()
        print(f"{it} d {d_loss.item():.3f} g {g_loss.item():.3f} near ring {near:.2f} modes {sectors}")
