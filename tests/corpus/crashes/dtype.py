import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

import numpy as np

features = np.random.default_rng(0).normal(size=(64, 10))
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters())
for rows in torch.randperm(64).split(16):
    x = torch.from_numpy(features)[rows]
    loss = F.mse_loss(net(x).squeeze(1), x[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
