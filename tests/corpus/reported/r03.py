"""LoRA: a digits MLP is adapted to mirrored images through low-rank updates."""
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(64)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
perm = torch.randperm(len(X))
tr, te = perm[:1300], perm[1300:]


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.t()) @ self.B.t()


def fit(model, data, params, epochs, lr):
    opt = torch.optim.AdamW(params, lr=lr)
    for _ in range(epochs):
        for rows in tr[torch.randperm(len(tr))].split(64):
            loss = F.cross_entropy(model(data[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


@torch.no_grad()
def accuracy(model, data):
    return (model(data[te]).argmax(1) == y[te]).float().mean().item()


model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
fit(model, X, model.parameters(), 6, 3e-3)
mirrored = X.view(-1, 8, 8).flip(2).flatten(1)
print(f"base {accuracy(model, X):.3f}, on mirrored images {accuracy(model, mirrored):.3f}")
for i in (0, 2, 4):
    model[i] = LoRALinear(model[i])
trainable = [p for p in model.parameters() if p.requires_grad]
print(f"trainable {sum(p.numel() for p in trainable)} of {sum(p.numel() for p in model.parameters())}")
loss = fit(model, mirrored, trainable, 15, 5e-3)
print(f"after adaptation loss {loss:.3f} acc {accuracy(model, mirrored):.3f}")
