"""BYOL-like pretraining on digits, then fine-tuning of the whole network."""
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(44)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
perm = torch.randperm(len(X))
tr, te = perm[:1300], perm[1300:]


def set_requires_grad(module, value):
    for p in module.parameters():
        if p.requires_grad:
            p.requires_grad = value


def augment(x):
    return x + 0.1 * torch.randn_like(x) * (torch.rand_like(x) > 0.3)


class BYOL(nn.Module):
    def __init__(self, encoder, dim):
        super().__init__()
        self.online = encoder
        self.target = copy.deepcopy(encoder)
        self.predictor = nn.Sequential(nn.Linear(dim, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, dim))
        set_requires_grad(self.target, False)

    def forward(self, x):
        p = F.normalize(self.predictor(self.online(augment(x))), dim=1)
        with torch.no_grad():
            z = F.normalize(self.target(augment(x)), dim=1)
        return (2 - 2 * (p * z).sum(1)).mean()

    @torch.no_grad()
    def update_target(self, tau=0.97):
        for o, t in zip(self.online.parameters(), self.target.parameters()):
            t.mul_(tau).add_(o, alpha=1 - tau)


encoder = nn.Sequential(nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 8))
learner = BYOL(encoder, 8)
opt = torch.optim.Adam([p for p in learner.parameters() if p.requires_grad], lr=2e-3)
for epoch in range(4):
    for rows in tr[torch.randperm(len(tr))].split(100):
        loss = learner(X[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        learner.update_target()
print(f"pretraining loss {loss.item():.4f}")

head = nn.Linear(8, 10)
net = nn.Sequential(learner.target, head)
set_requires_grad(net, True)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(10):
    net.train()
    for rows in tr[torch.randperm(len(tr))].split(64):
        loss = F.cross_entropy(net(X[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(X[te]).argmax(1) == y[te]).float().mean()
    if epoch % 3 == 0:
        print(f"fine-tuning epoch {epoch} loss {loss.item():.3f} acc {acc:.3f}")
