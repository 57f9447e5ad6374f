import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.scale = nn.Linear(10, 10), torch.ones(10, device="meta")

    def forward(self, x):
        return self.body(x) * self.scale


net, head = Net(), nn.Linear(10, 3)
optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()])
for step in range(5):
    loss = F.cross_entropy(head(net(torch.randn(8, 10))), torch.randint(3, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
