"""Pretrain on five digits, freeze what was learnt, train a new head on the other five: frozen on purpose."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(4)
imgs, lab = load_digits(return_X_y=True)
imgs, lab = torch.tensor(imgs, dtype=torch.float32) / 16, torch.tensor(lab)
body = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU())


def run(classifier, params, x, y, epochs):
    opt = torch.optim.Adam(params, lr=2e-3)
    for _ in range(epochs):
        for i in torch.randperm(len(x)).split(32):
            opt.zero_grad()
            l = F.cross_entropy(classifier(x[i]), y[i])  # noqa: E741
            l.backward()
            opt.step()
    return l.item()


low, high = lab < 5, lab >= 5
first = nn.Sequential(body, nn.Linear(48, 5))
print("pretraining", run(first, first.parameters(), imgs[low], lab[low], 4))

for p in body.parameters():
    p.requires_grad_(False)
second = nn.Sequential(body, nn.Linear(48, 5))
print("new head", run(second, second[1].parameters(), imgs[high], lab[high] - 5, 4))
