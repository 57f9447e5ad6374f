"""Coupling-layer density model of the two moons; draws samples and compares them with held-out points."""
import argparse
import math

import torch
import torch.nn as nn
from sklearn.datasets import make_moons


class Coupling(nn.Module):
    def __init__(self, dim, hid, flip):
        super().__init__()
        self.flip = flip
        half = dim // 2
        self.net = nn.Sequential(nn.Linear(half, hid), nn.ReLU(), nn.Linear(hid, hid), nn.ReLU(),
                                 nn.Linear(hid, 2 * half))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def params(self, a):
        log_s, t = self.net(a).chunk(2, dim=1)
        return 2.0 * torch.tanh(log_s / 2.0), t

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        log_s, t = self.params(a)
        b = b * log_s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], dim=1), log_s.sum(dim=1)

    def inverse(self, y):
        a, b = y.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        log_s, t = self.params(a)
        b = (b - t) * (-log_s).exp()
        return torch.cat([b, a] if self.flip else [a, b], dim=1)


class Flow(nn.Module):
    def __init__(self, dim=2, layers=6, hid=48):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(dim, hid, i % 2 == 1) for i in range(layers))

    def forward(self, x):
        log_det = torch.zeros(len(x))
        for layer in self.layers:
            x, step_log_det = layer(x)
            log_det = log_det + step_log_det
        return x, log_det

    def log_prob(self, x):
        z, log_det = self(x)
        base = -0.5 * (z ** 2).sum(dim=1) - 0.5 * z.size(1) * math.log(2 * math.pi)
        return base + log_det

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, 2)
        for layer in reversed(self.layers):
            x = layer.inverse(x)
        return x


def moons(n, seed):
    x, _ = make_moons(n, noise=0.06, random_state=seed)
    x = torch.tensor(x, dtype=torch.float32)
    return (x - torch.tensor([0.5, 0.25])) / torch.tensor([0.87, 0.50])


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train, test = moons(4000, args.seed), moons(1000, args.seed + 100)
    flow = Flow()
    opt = torch.optim.Adam(flow.parameters(), lr=args.lr)
    for step in range(1, args.steps + 1):
        batch = train[torch.randint(0, len(train), (args.batch_size,))]
        loss = -flow.log_prob(batch).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        opt.step()
        if step % 150 == 0:
            with torch.no_grad():
                test_nll = -flow.log_prob(test).mean().item()
            dist = energy_distance(flow.sample(1000), test)
            print(f"step {step:4d}  train nll {loss.item():.3f}  test nll {test_nll:.3f}  distance to test points {dist:.4f}")


if __name__ == "__main__":
    main()
