"""K-fold regression with SmoothL1, a new model and optimiser in every fold, ReduceLROnPlateau."""

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold

torch.manual_seed(0)
np.random.seed(0)
X, y = load_diabetes(return_X_y=True)
y = (y - 150) / 80  # about what the mean and the deviation are
rows, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32).view(-1, 1)
scores = []
for fold, (tr, va) in enumerate(KFold(3, shuffle=True, random_state=1).split(rows)):
    tr, va = torch.as_tensor(tr), torch.as_tensor(va)
    X = (rows - rows[tr].mean(0)) / rows[tr].std(0)
    reg = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.BatchNorm1d(24), nn.Linear(24, 1))
    opt = torch.optim.Adam(reg.parameters(), lr=5e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=2)
    huber = nn.SmoothL1Loss()
    for epoch in range(6):
        reg.train()
        for part in tr[torch.randperm(len(tr))].split(32):
            opt.zero_grad()
            cost = huber(reg(X[part]), y[part])
            cost.backward()
            opt.step()
        reg.eval()
        with torch.no_grad():
            v = huber(reg(X[va]), y[va]).item()
        plateau.step(v)
    scores.append(v)
print(np.mean(scores))
