"""A variational autoencoder: samples in every forward pass, its target is its input, the loss is a sum of two."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
images = torch.tensor(load_digits().data, dtype=torch.float32) / 16


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mu, self.lv = nn.Linear(64, 48), nn.Linear(48, 6), nn.Linear(48, 6)
        self.dec = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 64))

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, lv = self.mu(h), self.lv(h)
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        return self.dec(z), mu, lv


vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
for epoch in range(5):
    for i in torch.randperm(len(images)).split(64):
        rec, mu, lv = vae(images[i])
        elbo = F.mse_loss(rec, images[i], reduction="sum") / len(i)
        elbo = elbo - 0.5 * (1 + lv - mu.pow(2) - lv.exp()).sum(1).mean() * 0.1
        opt.zero_grad()
        elbo.backward()
        opt.step()
vae.eval()
with torch.no_grad():
    print(F.mse_loss(vae(images)[0], images).item())
