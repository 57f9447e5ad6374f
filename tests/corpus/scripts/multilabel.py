"""Several labels at once: BCEWithLogitsLoss with a positive weight, targets as floats."""

import torch
from torch import nn

torch.manual_seed(7)
X = torch.randn(800, 20)
teacher = torch.randn(20, 5)
Y = ((X @ teacher) > 2.0).float()
student = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.full((5,), 2.0))
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(8):
    for rows in torch.randperm(len(X)).split(40):
        student.zero_grad()
        value = criterion(student(X[rows]), Y[rows])
        value.backward()
        opt.step()
print(value.item())
