"""Variational autoencoder on 8 x 8 digits."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class VAE(nn.Module):
    def __init__(self, x_dim=64, hidden=200, z_dim=10):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(x_dim, hidden), nn.ReLU())
        self.to_mean = nn.Linear(hidden, z_dim)
        self.to_logvar = nn.Linear(hidden, z_dim)
        self.dec = nn.Sequential(nn.Linear(z_dim, hidden), nn.ReLU(), nn.Linear(hidden, x_dim))

    def encode(self, x):
        h = self.enc(x)
        return self.to_mean(h), self.to_logvar(h)

    def reparameterize(self, mean, log_var):
        return mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)

    def forward(self, x):
        mean, log_var = self.encode(x)
        z = self.reparameterize(mean, log_var)
        return self.dec(z), mean, log_var


def loss_terms(x, logits, mean, log_var):
    """One reconstruction and one divergence term for every picture of the batch."""
    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(dim=-1)
    kl = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())
    return recon, kl


@torch.no_grad()
def evaluate(model, x):
    model.eval()
    mean, log_var = model.encode(x)
    rec = torch.sigmoid(model.dec(mean))
    spread = mean.std(dim=0)
    return F.mse_loss(rec, x).item(), (spread > 0.1).sum().item()


def train(model, loader, epochs, lr, x_test):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(1, epochs + 1):
        model.train()
        total, n = 0.0, 0
        for (xb,) in loader:
            logits, mean, log_var = model(xb)
            recon, kl = loss_terms(xb, logits, mean, log_var)
            loss = (recon + kl).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
            n += len(xb)
        if epoch % 10 == 0 or epoch == 1:
            mse, used = evaluate(model, x_test)
            print(f"epoch {epoch:3d}  elbo loss {total / n:8.3f}  recon mse {mse:.4f}  latents in use {used}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=60)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--z-dim", type=int, default=10)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    x = x[torch.randperm(len(x))]
    x_train, x_test = x[:1400], x[1400:]
    print("mse of the mean picture", round(F.mse_loss(x_train.mean(0).expand_as(x_test), x_test).item(), 4))
    loader = DataLoader(TensorDataset(x_train), batch_size=args.batch_size, shuffle=True, drop_last=True)
    model = VAE(z_dim=args.z_dim)
    train(model, loader, args.epochs, args.lr, x_test)


if __name__ == "__main__":
    main()
