"""Categorical (Gumbel-softmax) VAE on digits."""
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(1)
LATENT, CATS = 8, 6
x_all = torch.tensor(load_digits().data, dtype=torch.float32) / 16
train, test = x_all[:1500], x_all[1500:]


class GumbelVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, LATENT * CATS))
        self.dec = nn.Sequential(nn.Linear(LATENT * CATS, 96), nn.ReLU(), nn.Linear(96, 64))

    def forward(self, x, temp):
        q = self.enc(x).view(-1, LATENT, CATS)
        z = F.gumbel_softmax(q, tau=temp, dim=-1)
        return self.dec(z.flatten(1)), F.softmax(q, dim=-1)


def loss_function(logits, x, qy):
    bce = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
    log_qy = torch.log(qy + 1e-20)
    g = math.log(1.0 / CATS)
    kld = -torch.sum(qy * (log_qy - g), dim=(-2, -1)).mean()
    return bce + 0.3 * kld, bce, kld


model = GumbelVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
temp, step = 1.0, 0
for epoch in range(1, 20):
    model.train()
    for rows in torch.randperm(len(train)).split(100):
        out, qy = model(train[rows], temp)
        loss, bce, kld = loss_function(out, train[rows], qy)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 30 == 0:
            temp = max(0.5, temp * math.exp(-0.003 * step))
    if epoch % 6 == 1:
        model.eval()
        with torch.no_grad():
            out, qy = model(test, temp)
            _, bce, kld = loss_function(out, test, qy)
            sample = torch.distributions.OneHotCategorical(probs=torch.full((200, LATENT, CATS), 1 / CATS)).sample()
            fake = torch.sigmoid(model.dec(sample.flatten(1)))
            gap = (fake.mean(0) - train.mean(0)).abs().mean()
        print(f"epoch {epoch} recon {bce:.2f} kl {kld:.2f} mean gap of samples {gap:.3f}")
