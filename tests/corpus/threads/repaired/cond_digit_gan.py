"""Class-conditional digit generator: adversarial term plus a weak L1 term."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=1800)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--z-dim", type=int, default=16)
parser.add_argument("--l1-weight", type=float, default=1.0)
parser.add_argument("--lr", type=float, default=5e-4)
parser.add_argument("--seed", type=int, default=0)


class Generator(nn.Module):
    def __init__(self, z_dim, classes=10):
        super().__init__()
        self.z_dim = z_dim
        self.label = nn.Embedding(classes, 16)
        self.net = nn.Sequential(nn.Linear(z_dim + 16, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(),
                                 nn.Linear(128, 64), nn.Sigmoid())

    def forward(self, y):
        z = torch.randn(len(y), self.z_dim)
        return self.net(torch.cat([z, self.label(y)], dim=1))


class Discriminator(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.label = nn.Embedding(classes, 16)
        self.net = nn.Sequential(nn.Linear(64 + 16, 128), nn.LeakyReLU(0.2), nn.Dropout(0.2),
                                 nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Dropout(0.2), nn.Linear(128, 1))

    def forward(self, x, y):
        return self.net(torch.cat([x, self.label(y)], dim=1)).squeeze(1)


class Trainer:
    def __init__(self, args):
        self.g, self.d = Generator(args.z_dim), Discriminator()
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=args.lr, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=args.lr, betas=(0.5, 0.999))
        self.l1_weight = args.l1_weight

    def generator_step(self, real, y):
        fake = self.g(y)
        score = self.d(fake, y)
        adv = F.mse_loss(score, torch.ones_like(score))
        rec = F.l1_loss(fake, real)
        self.opt_g.zero_grad()
        (adv + self.l1_weight * rec).backward()
        self.opt_g.step()
        return adv.item(), rec.item()

    def discriminator_step(self, real, y):
        fake = self.g(y).detach()
        s_real, s_fake = self.d(real, y), self.d(fake, y)
        loss = 0.5 * (F.mse_loss(s_real, torch.ones_like(s_real)) + F.mse_loss(s_fake, torch.zeros_like(s_fake)))
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return loss.item(), s_real.mean().item()


@torch.no_grad()
def spread(samples, y):
    """How much the pictures of one class differ among themselves."""
    return torch.stack([samples[y == k].std(dim=0).mean() for k in range(10)]).mean().item()


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    data = load_digits()
    x = torch.tensor(data.data / 16.0, dtype=torch.float32)
    y = torch.tensor(data.target)
    print(f"spread within a class, real pictures: {spread(x, y):.3f}")
    trainer = Trainer(args)
    for step in range(1, args.steps + 1):
        idx = torch.randint(0, len(x), (args.batch_size,))
        d_loss, d_real = trainer.discriminator_step(x[idx], y[idx])
        adv, rec = trainer.generator_step(x[idx], y[idx])
        if step % 300 == 0:
            with torch.no_grad():
                fake = trainer.g(y)
            print(f"step {step:4d}  D {d_loss:.3f} (real {d_real:.2f})  G adv {adv:.3f} l1 {rec:.3f}  spread {spread(fake, y):.3f}")


if __name__ == "__main__":
    main()
