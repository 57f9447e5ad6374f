import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
for parameter in net.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.Adam(net.parameters())
for step in range(5):
    loss = F.cross_entropy(net(torch.randn(8, 10)), torch.randint(4, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
