"""Click-through model with a bottom MLP, embeddings and a top MLP."""
import numpy as np
import torch
from torch import nn

SEED = 123
np.random.seed(SEED)
torch.manual_seed(SEED)


def create_mlp(sizes):
    layers = nn.ModuleList()
    for n, m in zip(sizes[:-1], sizes[1:]):
        lin = nn.Linear(n, m)
        w = np.random.normal(0.0, np.sqrt(2.0 / (m + n)), size=(m, n)).astype("float32")
        b = -np.abs(np.random.normal(0.0, np.sqrt(36.0 * n / m), size=m)).astype("float32") - 6.0
        lin.weight.data = torch.from_numpy(w)
        lin.bias.data = torch.from_numpy(b)
        layers.append(lin)
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class ClickModel(nn.Module):
    def __init__(self, dense=8, cards=(30, 20, 10), d=8):
        super().__init__()
        self.emb = nn.ModuleList(nn.Embedding(c, d) for c in cards)
        self.bottom = create_mlp([dense, 32, d])
        self.top = nn.Sequential(nn.Linear(d * 4, 1))

    def forward(self, dense, sparse):
        feats = [self.bottom(dense)] + [e(sparse[:, i]) for i, e in enumerate(self.emb)]
        return self.top(torch.cat(feats, 1)).squeeze(1)


def make(n):
    g = np.random.default_rng(0 if n > 3000 else 1)
    dense = g.normal(size=(n, 8)).astype("float32")
    sparse = np.stack([g.integers(0, c, n) for c in (30, 20, 10)], 1)
    score = 2.0 * dense[:, 0] - 1.5 * np.abs(dense[:, 1]) + 1.2 * dense[:, 2] * dense[:, 3] + 0.3 * (sparse[:, 2] - 5) + 1
    y = (g.random(n) < 1 / (1 + np.exp(-2 * score))).astype("float32")
    return torch.from_numpy(dense), torch.from_numpy(sparse), torch.from_numpy(y)


train, test = make(4000), make(1000)
model = ClickModel()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    order = torch.randperm(4000)
    for rows in order.split(100):
        d, s, y = (t[rows] for t in train)
        loss = nn.functional.binary_cross_entropy_with_logits(model(d, s), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = ((model(*test[:2]) > 0).float() == test[2]).float().mean()
    print(f"epoch {epoch} bce {loss.item():.4f} test acc {acc:.3f}")
