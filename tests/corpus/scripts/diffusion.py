"""Tiny DDPM: predicts noise, MSE, time embedding, sampling loop at the end under no_grad."""

import torch
from torch import nn

torch.manual_seed(0)
T = 50
beta = torch.linspace(1e-4, 0.05, T)
abar = torch.cumprod(1 - beta, 0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.temb = nn.Embedding(T, 16)
        self.net = nn.Sequential(nn.Linear(18, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.temb(t)], -1))


eps_model = Denoiser()
opt = torch.optim.AdamW(eps_model.parameters(), lr=2e-3)
for it in range(200):
    a = torch.rand(128) * 6.28
    x0 = torch.stack([a.cos(), a.sin()], 1)
    t = torch.randint(T, (128,))
    eps = torch.randn_like(x0)
    xt = abar[t].sqrt()[:, None] * x0 + (1 - abar[t]).sqrt()[:, None] * eps
    loss = (eps_model(xt, t) - eps).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    x = torch.randn(64, 2)
    for t in reversed(range(T)):
        e = eps_model(x, torch.full((64,), t))
        x = (x - beta[t] / (1 - abar[t]).sqrt() * e) / (1 - beta[t]).sqrt()
        if t:
            x = x + beta[t].sqrt() * torch.randn_like(x)
print(x.norm(dim=1).mean().item())
