"""Class imbalance: WeightedRandomSampler, hand-written focal loss, MixUp; metrics with sklearn."""

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        logp = torch.log_softmax(logits, dim=1)
        logpt = logp.gather(1, target[:, None]).squeeze(1)
        return (-((1 - logpt.exp()) ** self.gamma) * logpt).mean()


def fit():
    torch.manual_seed(0)
    X, y = make_classification(1200, 20, n_informative=8, weights=[0.9, 0.1], random_state=0)
    X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
    w = 1.0 / torch.bincount(y[:1000]).float()
    sampler = WeightedRandomSampler(w[y[:1000]], 1000)
    dl = DataLoader(TensorDataset(X[:1000], y[:1000]), batch_size=50, sampler=sampler)
    net = nn.Sequential(nn.Linear(20, 40), nn.BatchNorm1d(40), nn.ReLU(), nn.Dropout(0.2), nn.Linear(40, 2))
    opt = torch.optim.NAdam(net.parameters(), lr=3e-3)
    crit = FocalLoss()
    for _ in range(6):
        net.train()
        for xb, yb in dl:
            lam = np.random.default_rng(0).beta(0.2, 0.2)
            perm = torch.randperm(len(xb))
            out = net(lam * xb + (1 - lam) * xb[perm])
            loss = lam * crit(out, yb) + (1 - lam) * crit(out, yb[perm])
            opt.zero_grad()
            loss.backward()
            opt.step()
    net.eval()
    with torch.no_grad():
        print(f1_score(y[1000:], net(X[1000:]).argmax(1)))


fit()
