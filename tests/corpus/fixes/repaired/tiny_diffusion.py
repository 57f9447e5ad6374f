import math
import os
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = int(os.environ.get("SEED", 0))
    timesteps: int = 100
    train_size: int = 1200
    batch_size: int = 60
    epochs: int = 60
    lr: float = 1.5e-3
    width: int = 320
    n_samples: int = 16


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        freqs = torch.exp(-math.log(1000.0) * torch.arange(dim // 2) / (dim // 2))
        self.register_buffer("freqs", freqs)

    def forward(self, t):
        angles = t[:, None].float() * self.freqs[None]
        return torch.cat([angles.sin(), angles.cos()], dim=1)


class NoiseNet(nn.Module):
    def __init__(self, data_dim, width):
        super().__init__()
        self.time = nn.Sequential(TimeEmbedding(32), nn.Linear(32, width))
        self.inp = nn.Linear(data_dim, width)
        self.mid1 = nn.Linear(width, width)
        self.mid2 = nn.Linear(width, width)
        self.out = nn.Linear(width, data_dim)

    def forward(self, x, t):
        h = F.silu(self.inp(x) + self.time(t))
        h = h + F.silu(self.mid1(h))
        h = h + F.silu(self.mid2(h))
        return self.out(h)


class Diffusion:
    def __init__(self, steps):
        self.steps = steps
        self.betas = torch.linspace(1e-3, 0.08, steps)
        self.alphas = 1 - self.betas
        self.abar = torch.cumprod(self.alphas, 0)

    def add_noise(self, x0, noise, t):
        a = self.abar[t][:, None]
        return a.sqrt() * x0 + (1 - a).sqrt() * noise

    @torch.no_grad()
    def sample(self, model, shape, generator):
        x = torch.randn(shape, generator=generator)
        for i in reversed(range(self.steps)):
            t = torch.full((shape[0],), i)
            eps = model(x, t)
            x = (x - self.betas[i] / (1 - self.abar[i]).sqrt() * eps) / self.alphas[i].sqrt()
            if i > 0:
                x = x + self.betas[i].sqrt() * torch.randn(shape, generator=generator)
        return x


def preview(model, diffusion, cfg, dim):
    model.eval()
    images = diffusion.sample(model, (cfg.n_samples, dim), torch.Generator().manual_seed(cfg.seed))
    return images.mean().item(), images.std().item()


@torch.no_grad()
def heldout_loss(model, diffusion, x, rounds=5):
    model.eval()
    g = torch.Generator().manual_seed(4321)
    total = 0.0
    for _ in range(rounds):
        t = torch.randint(0, diffusion.steps, (len(x),), generator=g)
        noise = torch.randn(x.shape, generator=g)
        total += F.mse_loss(model(diffusion.add_noise(x, noise, t), t), noise).item()
    return total / rounds


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    data = torch.tensor(load_digits().data, dtype=torch.float32) / 8.0 - 1.0
    data = data[torch.randperm(len(data))]
    train, held = data[:cfg.train_size], data[cfg.train_size:]
    loader = DataLoader(TensorDataset(train), batch_size=cfg.batch_size, shuffle=True)

    diffusion = Diffusion(cfg.timesteps)
    model = NoiseNet(data.shape[1], cfg.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-4)

    for epoch in range(1, cfg.epochs + 1):
        model.train()
        running = 0.0
        for (x0,) in loader:
            noise = torch.randn_like(x0)
            t = torch.randint(0, diffusion.steps, (x0.size(0),))
            pred = model(diffusion.add_noise(x0, noise, t), t)
            loss = F.mse_loss(pred, noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        mean, std = preview(model, diffusion, cfg, data.shape[1])
        if epoch % 10 == 0 or epoch == 1:
            held_loss = heldout_loss(model, diffusion, held)
            print(f"epoch {epoch:3d} train {running / len(loader):.4f} heldout {held_loss:.4f} "
                  f"samples mean {mean:+.3f} std {std:.3f}")
    print(f"final train={running / len(loader):.4f} heldout={held_loss:.4f}")


if __name__ == "__main__":
    main()
