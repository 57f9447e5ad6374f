"""Gaussian VAE on 8x8 digits, torch.distributions for posterior and prior."""
import argparse

import torch
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch import nn
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence

parser = argparse.ArgumentParser()
parser.add_argument("--latent", type=int, default=8)
parser.add_argument("--hidden", type=int, default=128)
parser.add_argument("--epochs", type=int, default=60)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--beta", type=float, default=0.5)
parser.add_argument("--seed", type=int, default=17)
args = parser.parse_args()


class VAE(nn.Module):
    def __init__(self, n_pixel, hidden, latent):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_pixel, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.to_mean = nn.Linear(hidden, latent)
        self.to_log_std = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, n_pixel),
        )
        self.latent = latent

    def posterior(self, x):
        h = self.encoder(x)
        std = self.to_log_std(h).clamp(-5, 2).exp()
        return Independent(Normal(self.to_mean(h), std), 1)

    def prior(self):
        return Independent(Normal(torch.zeros(self.latent), torch.ones(self.latent)), 1)

    def likelihood(self, z):
        return Independent(Bernoulli(logits=self.decoder(z), validate_args=False), 1)

    def forward(self, x):
        q = self.posterior(x)
        z = q.sample()
        reconstruction = self.likelihood(z).log_prob(x)
        kl = kl_divergence(q, self.prior())
        return reconstruction, kl


def latent_accuracy(model, train_x, train_y, test_x, test_y):
    with torch.no_grad():
        a, b = model.posterior(train_x).mean, model.posterior(test_x).mean
    return KNeighborsClassifier(5).fit(a.numpy(), train_y).score(b.numpy(), test_y)


torch.manual_seed(args.seed)
digits = load_digits()
x = torch.tensor(digits.data / 16.0, dtype=torch.float32)
order = torch.randperm(len(x))
train_idx, test_idx = order[:1400], order[1400:]
train_x, test_x = x[train_idx], x[test_idx]
train_y, test_y = digits.target[train_idx.numpy()], digits.target[test_idx.numpy()]

model = VAE(x.shape[1], args.hidden, args.latent)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
for epoch in range(1, args.epochs + 1):
    model.train()
    sums = torch.zeros(2)
    for idx in torch.randperm(len(train_x)).split(args.batch):
        reconstruction, kl = model(train_x[idx])
        loss = (args.beta * kl - reconstruction).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sums += torch.stack([reconstruction.detach().sum(), kl.detach().sum()])
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            test_rec, test_kl = (v.mean().item() for v in model(test_x))
        rec, kl = (sums / len(train_x)).tolist()
        print(f"epoch {epoch:3d}  train rec {rec:.2f} kl {kl:.2f}   test rec {test_rec:.2f} kl {test_kl:.2f}")

acc = latent_accuracy(model, train_x, train_y, test_x, test_y)
with torch.no_grad():
    mse = (model.likelihood(model.posterior(test_x).mean).mean - test_x).pow(2).mean().item()
print(f"pixel mse of reconstructions {mse:.4f}   5-NN accuracy on latent means {acc:.4f}")
