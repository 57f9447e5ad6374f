"""Variational autoencoder on the small digit images."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(11)
images = torch.tensor(load_digits().images, dtype=torch.float32).flatten(1) / 16.0


class VAE(nn.Module):
    def __init__(self, hidden=96, code=6):
        super().__init__()
        self.up = nn.Linear(64, hidden)
        self.mean = nn.Linear(hidden, code)
        self.logvar = nn.Linear(hidden, code)
        self.down = nn.Sequential(nn.Linear(code, hidden), nn.ReLU(), nn.Linear(hidden, 64))

    def forward(self, x):
        h = F.relu(self.up(x))
        mu, lv = self.mean(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * lv)
        return self.down(z), mu, lv


def elbo(recon, x, mu, lv, beta):
    rec = F.binary_cross_entropy_with_logits(recon, x, reduction="sum") / len(x)
    kl = -0.5 * (1 + lv - mu.pow(2) - lv.exp()).sum(1).mean()
    return rec + beta * kl, rec, kl


vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
for epoch in range(12):
    order = torch.randperm(len(images))
    total = 0.0
    beta = min(1.0, (epoch + 1) / 5)
    for i in range(0, len(order), 64):
        x = images[order[i:i + 64]]
        recon, mu, lv = vae(x)
        objective, rec, kl = elbo(recon, x, mu, lv, beta)
        opt.zero_grad()
        objective.backward()
        opt.step()
        total += objective.item() * len(x)
    print(f"epoch {epoch}: -elbo {total / len(images):.2f}  rec {rec.item():.2f} kl {kl.item():.2f}")
vae.eval()
with torch.no_grad():
    recon, mu, _ = vae(images)
    print("mse of reconstruction", F.mse_loss(torch.sigmoid(vae.down(mu)), images).item(), "variance", images.var().item())
