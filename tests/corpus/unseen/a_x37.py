"""An Elman network written out by hand: add up the marked numbers."""
import torch
from torch import nn


class Elman(nn.Module):
    def __init__(self, n_hidden=24):
        super().__init__()
        self.inp = nn.Linear(2, n_hidden)
        self.rec = nn.Linear(n_hidden, n_hidden)
        self.out = nn.Linear(n_hidden, 1)

    def forward(self, x):
        h = torch.zeros(x.shape[0], self.rec.in_features)
        for t in range(x.shape[1]):
            fresh = torch.tanh(self.inp(x[:, t]) + self.rec(h))
            # where the mark is missing, forget half
            keep = x[:, t, 1] > 0
            fresh[~keep] = fresh[~keep] * 0.5 + h[~keep] * 0.5
            h = fresh
        return self.out(h).squeeze(-1)


def adding(n, k=10):
    v = torch.rand(n, k)
    m = torch.zeros(n, k)
    for r in range(n):
        m[r, torch.randperm(k)[:2]] = 1
    return torch.stack([v, m], -1), (v * m).sum(1)


if __name__ == "__main__":
    torch.manual_seed(63)
    net = Elman()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for i in range(150):
        x, s = adding(32)
        loss = (net(x) - s).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 30 == 0:
            print(i, loss.item())
