"""A small GAN: two networks, two optimisers, two backward passes, BatchNorm in the generator."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
LATENT = 8
generator = nn.Sequential(nn.Linear(LATENT, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 2))
critic = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))


def real_samples(n):
    angle = torch.rand(n) * 6.2832
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


for it in range(250):
    real = real_samples(64)
    with torch.no_grad():
        fake = generator(torch.randn(64, LATENT))
    d_real, d_fake = critic(real), critic(fake)
    err_d = F.binary_cross_entropy_with_logits(d_real, torch.ones_like(d_real))
    err_d = err_d + F.binary_cross_entropy_with_logits(d_fake, torch.zeros_like(d_fake))
    opt_d.zero_grad()
    err_d.backward()
    opt_d.step()

    verdict = critic(generator(torch.randn(64, LATENT)))
    err_g = F.binary_cross_entropy_with_logits(verdict, torch.ones_like(verdict))
    opt_g.zero_grad()
    err_g.backward()
    opt_g.step()

print("G", err_g.item(), "D", err_d.item())
