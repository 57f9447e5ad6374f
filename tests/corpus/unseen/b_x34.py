"""A mixture of Gaussians fitted by gradient descent on -log p(x)."""
import math

import torch
from torch import nn, optim


class Mixture(nn.Module):
    def __init__(self, n_parts):
        super().__init__()
        self.mu = nn.Parameter(torch.linspace(-1.0, 1.0, n_parts))
        self.raw_std = nn.Parameter(torch.zeros(n_parts))
        self.weights = nn.Parameter(torch.zeros(n_parts))

    def density(self, x):
        std = self.raw_std.exp()
        z = (x[:, None] - self.mu) / std
        comp = torch.exp(-0.5 * z * z) / (std * math.sqrt(2 * math.pi))
        return (comp * self.weights.softmax(0)).sum(1)

    def forward(self, x):
        return -torch.log(self.density(x)).mean()


def stream(seed):
    g = torch.Generator().manual_seed(seed)
    day = 0
    while True:
        centre = torch.tensor([-2.0, 0.5, 3.0])[torch.randint(0, 3, (64,), generator=g)]
        batch = centre + 0.12 * torch.randn(64, generator=g)
        day += 1
        if day == 70:
            batch[5] = 40.0  # somebody typed 400 for 4.00
        yield batch


def main():
    torch.manual_seed(0)
    mixture = Mixture(3)
    opt = optim.Adam(mixture.parameters(), lr=0.05)
    source = stream(4)
    for it in range(1, 121):
        x = next(source)
        opt.zero_grad()
        surprise = mixture(x)
        surprise.backward()
        opt.step()
        if it % 10 == 0:
            print(it, surprise.item(), mixture.mu.detach().tolist())


if __name__ == "__main__":
    main()
