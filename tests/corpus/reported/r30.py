"""Embedding net for face-like patches (digits), trained by iteration count."""
import argparse

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=250)
parser.add_argument("--batch-size", type=int, default=48)
parser.add_argument("--lr", type=float, default=2e-3)
args = parser.parse_args([])

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
Xtr, Xte, ytr, yte = train_test_split(X / 16.0, y, test_size=0.3, random_state=0, stratify=y)
train_ds = TensorDataset(torch.tensor(Xtr).float(), torch.tensor(ytr))
test_ds = TensorDataset(torch.tensor(Xte).float(), torch.tensor(yte))
loader = DataLoader(train_ds, batch_size=args.batch_size)
test_loader = DataLoader(test_ds, batch_size=256)


class Embedder(nn.Module):
    def __init__(self, dim=32, classes=10):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.PReLU(), nn.Linear(128, dim))
        self.head = nn.Linear(dim, classes)

    def forward(self, x, embed=False):
        z = self.body(x)
        return z if embed else self.head(z)


model = Embedder()
opt = torch.optim.Adam(model.parameters(), lr=args.lr)
loss_fn = nn.CrossEntropyLoss()

idx = 0
epoch = 0
step = 0
while step < args.steps:
    idx = 0
    while idx + args.batch_size <= len(loader.dataset) and step < args.steps:
        x, t = next(iter(loader))
        opt.zero_grad()
        loss = loss_fn(model(x), t)
        loss.backward()
        opt.step()
        idx += args.batch_size
        step += 1
    epoch += 1
    with torch.no_grad():
        hit = sum((model(a).argmax(-1) == b).sum().item() for a, b in test_loader)
    print(f"epoch {epoch:2d} step {step:3d} loss {loss.item():.4f} test acc {hit / len(test_ds):.3f}")
