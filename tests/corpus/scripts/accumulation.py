"""Gradient accumulation on purpose: four small batches a step, each divided by four, cleared after the step."""

import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 4
torch.manual_seed(5)
raw = load_breast_cancer()
feats = torch.tensor(raw.data, dtype=torch.float32)
feats = (feats - feats.mean(0)) / feats.std(0)
loader = DataLoader(TensorDataset(feats, torch.tensor(raw.target)), batch_size=8, shuffle=True, drop_last=True)
clf = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 2))
adam = torch.optim.Adam(clf.parameters(), lr=3e-3)
ce = nn.CrossEntropyLoss()

adam.zero_grad()
micro = 0
for epoch in range(8):
    for xb, yb in loader:
        partial = ce(clf(xb), yb) / ACCUM
        partial.backward()
        micro += 1
        if micro % ACCUM == 0:
            adam.step()
            adam.zero_grad()
with torch.no_grad():
    print("accuracy", (clf(feats).argmax(1) == torch.tensor(raw.target)).float().mean().item())
