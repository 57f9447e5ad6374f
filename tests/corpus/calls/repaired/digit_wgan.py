"""Wasserstein GAN with gradient penalty on the 8x8 digits."""
import argparse

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=7)
parser.add_argument("--iters", type=int, default=900)
parser.add_argument("--n_critic", type=int, default=3)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--z_dim", type=int, default=24)
parser.add_argument("--lambda_gp", type=float, default=10.0)
opt = parser.parse_args()
torch.manual_seed(opt.seed)

REAL = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 8 - 1      # (N, 1, 8, 8)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(opt.z_dim, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 64), nn.Tanh()
        )

    def forward(self, z):
        return self.net(z).view(-1, 1, 8, 8)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Flatten(), nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


def gradient_penalty(critic, real, fake):
    eps = torch.rand(len(real), 1, 1, 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    grads = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    return ((grads.flatten(1).norm(2, dim=1) - 1) ** 2).mean()


def frechet(a, b):
    """Fréchet distance of two Gaussians fitted to the raw pixels."""
    a, b = a.flatten(1).double().numpy(), b.flatten(1).double().numpy()
    mu, ca, cb = a.mean(0) - b.mean(0), np.cov(a.T), np.cov(b.T)
    eig = np.linalg.eigvals(ca @ cb).real.clip(min=0)
    return mu @ mu + np.trace(ca) + np.trace(cb) - 2 * np.sqrt(eig).sum()


def noise(n):
    return torch.randn(n, opt.z_dim)


def main():
    gen, critic = Generator(), Critic()
    opt_g = torch.optim.Adam(gen.parameters(), lr=5e-4, betas=(0.5, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=5e-4, betas=(0.5, 0.9))
    for it in range(1, opt.iters + 1):
        for _ in range(opt.n_critic):
            real = REAL[torch.randint(len(REAL), (opt.batch,))]
            fake = gen(noise(opt.batch)).detach()
            gap = critic(real).mean() - critic(fake).mean()
            gp = gradient_penalty(critic, real, fake)
            opt_c.zero_grad()
            (-gap + opt.lambda_gp * gp).backward()
            opt_c.step()
        loss_g = -critic(gen(noise(opt.batch))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        if it % 150 == 0:
            with torch.no_grad():
                samples = gen(noise(1797))
            print(f"iter {it} critic gap {gap.item():.3f} gp {gp.item():.3f} G {loss_g.item():.3f} "
                  f"pixel FD {frechet(REAL, samples):.2f}")


if __name__ == "__main__":
    main()
