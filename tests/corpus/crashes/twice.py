import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

cell, out = nn.GRUCell(6, 12), nn.Linear(12, 3)
optimizer = torch.optim.Adam([*cell.parameters(), *out.parameters()])
hidden = torch.zeros(8, 12)
for step in range(5):
    hidden = cell(torch.randn(8, 6), hidden)
    loss = F.cross_entropy(out(hidden), torch.randint(3, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
