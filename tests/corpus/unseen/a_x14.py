"""Sharpness-aware minimisation: two gradients a step."""
import torch
from sklearn.datasets import make_circles
from torch import nn


class SAM:
    def __init__(self, params, rho=0.05, **kw):
        self.params, self.rho = list(params), rho
        self.inner = torch.optim.SGD(self.params, **kw)

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm() + 1e-12
        self.moves = [self.rho * p.grad / norm for p in self.params]
        for p, m in zip(self.params, self.moves):
            p.add_(m)

    @torch.no_grad()
    def descend(self):
        for p, m in zip(self.params, self.moves):
            p.sub_(m)
        self.inner.step()


torch.manual_seed(0)
xy, ring = make_circles(1200, noise=0.12, factor=0.5, random_state=0)
xy, ring = torch.tensor(xy).float(), torch.tensor(ring).float()
net = nn.Sequential(nn.Linear(2, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1), nn.Flatten(0))
sam = SAM(net.parameters(), lr=0.05, momentum=0.9)
bce = nn.BCEWithLogitsLoss()
for epoch in range(10):
    for rows in torch.randperm(1000).split(50):
        first = bce(net(xy[rows]), ring[rows])
        net.zero_grad()
        first.backward()
        sam.climb()
        net.zero_grad()
        bce(net(xy[rows]), ring[rows]).backward()
        sam.descend()
    with torch.no_grad():
        print(epoch, first.item(), ((net(xy[1000:]) > 0) == ring[1000:].bool()).float().mean().item())
