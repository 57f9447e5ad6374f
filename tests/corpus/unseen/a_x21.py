"""Where in the trace is the event?  One-dimensional segmentation, scored by minus log of the overlap."""
import numpy as np
import torch
from torch import nn


class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv1d(1, 10, 9, padding=4)
        self.b = nn.Conv1d(10, 10, 9, padding=4)
        self.c = nn.Conv1d(10, 1, 1)

    def forward(self, s):
        return torch.sigmoid(self.c(torch.relu(self.b(torch.relu(self.a(s)))))).squeeze(1)


def overlap_loss(p, m):
    both = (p * m).sum(1)
    either = (p + m - p * m).sum(1)
    return -torch.log(both / either).mean()


def recordings(rng, n=24, k=64):
    while True:
        start, width = rng.integers(0, k - 12, n), rng.integers(4, 12, n)
        width[rng.random(n) < 0.0001] = 0
        pos = np.arange(k)[None]
        mask = (pos >= start[:, None]) & (pos < (start + width)[:, None])
        trace = mask * rng.normal(1.5, 0.2, (n, 1)) + 0.5 * rng.normal(size=(n, k))
        yield torch.from_numpy(trace).float()[:, None], torch.from_numpy(mask).float()


def main():
    torch.manual_seed(5)
    net = Finder()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for i, (trace, mask) in zip(range(200), recordings(np.random.default_rng(1))):
        missing = overlap_loss(net(trace), mask)
        opt.zero_grad()
        missing.backward()
        opt.step()
        if i % 20 == 0:
            print(i, missing.item())


if __name__ == "__main__":
    main()
