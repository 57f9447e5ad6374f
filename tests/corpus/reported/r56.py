"""Gaussian VAE on digits with a warm-up of the KL weight."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(61)
data = torch.tensor(load_digits().data, dtype=torch.float32) / 16
train, test = data[:1500], data[1500:]


class VAE(nn.Module):
    def __init__(self, z=6, h=96):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, h), nn.SiLU())
        self.mu, self.logvar = nn.Linear(h, z), nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.SiLU(), nn.Linear(h, 64))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if self.training else mu
        return self.dec(z), mu, logvar


def elbo_terms(model, x):
    logits, mu, logvar = model(x)
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean()
    kl = 0.5 * (mu ** 2 + logvar.exp() - 1 - logvar).sum(1).mean()
    return rec, kl


model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
EPOCHS = 18
for epoch in range(EPOCHS):
    beta = min(1.0, (epoch + 1) / 6)
    model.train()
    for x in train[torch.randperm(len(train))].split(100):
        rec, kl = elbo_terms(model, x)
        loss = rec + beta * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 2:
        model.eval()
        with torch.no_grad():
            rec, kl = elbo_terms(model, test)
        print(f"epoch {epoch} beta {beta:.2f} test reconstruction {rec:.2f} kl {kl:.2f}")
