import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters())
labels = torch.arange(40) % 4 + 1
for rows in torch.randperm(40).split(8):
    loss = F.cross_entropy(net(torch.randn(8, 10)), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
