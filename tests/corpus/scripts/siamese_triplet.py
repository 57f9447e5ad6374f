"""Siamese network with TripletMarginLoss; shared weights; evaluation by nearest centroid; while loop over an iterator."""

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
raw = load_digits()
X, y = torch.tensor(raw.images[:, None] / 16.0).float(), torch.tensor(raw.target)
by = [torch.where(y[:1400] == k)[0] for k in range(10)]


def triplets(n):
    while True:
        a = torch.randint(1400, (n,))
        p = torch.stack([by[y[i]][torch.randint(len(by[y[i]]), ())] for i in a])
        neg = torch.randint(1400, (n,))
        keep = y[neg] != y[a]
        yield X[a[keep]], X[p[keep]], X[neg[keep]]


net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.PReLU(), nn.Flatten(), nn.Linear(288, 16))
crit = nn.TripletMarginLoss(margin=1.0)
optimizer = torch.optim.Adam(net.parameters(), 2e-3)
stream, it = triplets(48), 0
while it < 80:
    anchor, pos, neg = next(stream)
    optimizer.zero_grad()
    out = crit(net(anchor), net(pos), net(neg))
    out.backward()
    optimizer.step()
    it += 1
with torch.no_grad():
    z = net(X)
    cent = torch.stack([z[i].mean(0) for i in by])
    print((torch.cdist(z[1400:], cent).argmin(1) == y[1400:]).float().mean().item())
