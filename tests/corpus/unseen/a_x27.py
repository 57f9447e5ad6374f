"""Forecast the next number of a random walk from all the earlier ones, with attention.  Nothing beats the noise."""
import torch
from torch import nn

torch.manual_seed(80)


class Attend(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.mha = nn.MultiheadAttention(d, 2, batch_first=True)
        self.after = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x, attn_mask=None):
        y, _ = self.mha(x, x, x, need_weights=False, attn_mask=attn_mask)
        x = x + y
        return x + self.after(x)


class Walker(nn.Module):
    def __init__(self, d=32, n=16):
        super().__init__()
        self.into = nn.Linear(1, d)
        self.place = nn.Parameter(torch.randn(n, d))
        self.one, self.two = Attend(d), Attend(d)
        self.out = nn.Linear(d, 1)
        self.register_buffer("mask", torch.triu(torch.full((n, n), float("-inf")), 1))

    def forward(self, x):
        h = self.into(x) + self.place
        h = self.two(self.one(h))
        return x + self.out(h)


walker = Walker()
opt = torch.optim.AdamW(walker.parameters(), lr=2e-3)
for i in range(400):
    path = torch.randn(32, 17, 1).cumsum(1)
    pred = walker(path[:, :-1])
    mse = (pred - path[:, 1:]).square().mean()
    opt.zero_grad()
    mse.backward()
    opt.step()
    if i % 50 == 0:
        print(i, mse.item(), "noise 1.0")
print("last", mse.item())
