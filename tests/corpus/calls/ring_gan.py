"""GAN on eight Gaussians in a ring: hinge loss, two critic steps per generator step, averaged generator for sampling."""
import argparse
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--iters", type=int, default=1250)
parser.add_argument("--batch", type=int, default=192)
parser.add_argument("--latent", type=int, default=8)
parser.add_argument("--critic-steps", type=int, default=2)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--gamma", type=float, default=0.05)
parser.add_argument("--avg", type=float, default=0.99)
parser.add_argument("--seed", type=int, default=14)
args = parser.parse_args()

MODES = torch.tensor([[math.cos(a), math.sin(a)] for a in [k * math.pi / 4 for k in range(8)]]) * 2


def real_batch(n):
    return MODES[torch.randint(0, 8, (n,))] + 0.15 * torch.randn(n, 2)


def mlp(n_in, n_out, width=64):
    return nn.Sequential(
        nn.Linear(n_in, width), nn.LeakyReLU(0.2),
        nn.Linear(width, width), nn.LeakyReLU(0.2),
        nn.Linear(width, width), nn.LeakyReLU(0.2),
        nn.Linear(width, n_out),
    )


def critic_step(critic, generator, optimizer):
    real = real_batch(args.batch).requires_grad_(True)
    with torch.no_grad():
        fake = generator(torch.randn(args.batch, args.latent))
    score_real, score_fake = critic(real), critic(fake)
    (slope,) = torch.autograd.grad(score_real.sum(), real, create_graph=True)
    penalty = slope.pow(2).sum(1).mean()
    loss = F.relu(1 - score_real).mean() + F.relu(1 + score_fake).mean() + args.gamma * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def generator_step(critic, generator, optimizer):
    critic.requires_grad_(False)
    loss = -critic(generator(torch.randn(args.batch, args.latent))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    critic.requires_grad_(True)
    return loss.item()


@torch.no_grad()
def report(generator, n=4000):
    """Share of samples near a mode, and the share of the rarest mode."""
    dist = torch.cdist(generator(torch.randn(n, args.latent)), MODES)
    near, which = dist.min(1)
    good = near < 0.45
    counts = torch.bincount(which[good], minlength=8) / n
    return good.float().mean().item(), counts.min().item()


torch.manual_seed(args.seed)
generator, critic = mlp(args.latent, 2), mlp(2, 1)
averaged = copy.deepcopy(generator).requires_grad_(False)
opt_g = torch.optim.Adam(generator.parameters(), lr=args.lr, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(critic.parameters(), lr=args.lr, betas=(0.0, 0.9))
for it in range(1, args.iters + 1):
    for _ in range(args.critic_steps):
        d_loss = critic_step(critic, generator, opt_d)
    g_loss = generator_step(critic, generator, opt_g)
    with torch.no_grad():
        for slow, fast in zip(averaged.parameters(), generator.parameters()):
            slow.lerp_(fast, 1 - args.avg)
    if it % 250 == 0:
        good, rarest = report(averaged)
        print(f"iter {it:5d}  critic {d_loss:.3f}  generator {g_loss:+.3f}  near a mode {good:.3f}  rarest mode {rarest:.3f}")
