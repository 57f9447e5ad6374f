"""BYOL in miniature: an online network chases its own moving average."""
import copy

import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch import nn
import torch.nn.functional as F

torch.manual_seed(8)
bunch = load_digits()
pixels = torch.tensor(bunch.data / 16.0, dtype=torch.float32)


def view(x):
    keep = (torch.rand_like(x) > 0.15).float()
    return x * keep + 0.05 * torch.randn_like(x)


def encoder():
    return nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 32))


class Byol:
    def __init__(self, tau=0.97):
        self.online = encoder()
        self.target = copy.deepcopy(self.online)
        self.target.requires_grad_(False)
        self.predictor = nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32))
        self.tau = tau
        self.optimizer = torch.optim.Adam([*self.online.parameters(), *self.predictor.parameters()], lr=1e-3)
        self.history = []

    def half(self, a, b):
        p = F.normalize(self.predictor(self.online(a)), dim=1)
        with torch.no_grad():
            z = F.normalize(self.target(b), dim=1)
        return 2 - 2 * (p * z).sum(1).mean()

    def update(self, x):
        a, b = view(x), view(x)
        loss = self.half(a, b) + self.half(b, a)
        for p in [*self.online.parameters(), *self.predictor.parameters()]:
            p.grad = None
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for po, pt in zip(self.online.parameters(), self.target.parameters()):
                pt.mul_(self.tau).add_(po, alpha=1 - self.tau)
        self.history.append(loss.detach())

    def probe(self):
        self.online.eval()
        with torch.no_grad():
            z = self.online(pixels).numpy()
        self.online.train()
        lr = LogisticRegression(max_iter=300).fit(z[:1200], bunch.target[:1200])
        return lr.score(z[1200:], bunch.target[1200:])


algo = Byol()
print("probe before", algo.probe())
for epoch in range(8):
    for rows in torch.randperm(len(pixels)).split(128):
        algo.update(pixels[rows])
print("loss", algo.history[0].item(), "->", algo.history[-1].item())
print("probe after", algo.probe())
