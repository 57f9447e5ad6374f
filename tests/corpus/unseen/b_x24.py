import torch
from torch import nn


class GatedUnit(nn.Module):
    """y = sigmoid(gate) * tanh(value), with a residual."""

    def __init__(self, n):
        super().__init__()
        self.gate = nn.Linear(n, n)
        self.value = nn.Linear(n, n)

    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        v = torch.tanh(self.value(x))
        v *= g
        return x + v


def fit():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 32), GatedUnit(32), GatedUnit(32), nn.Linear(32, 1))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    x = torch.rand(2000, 6)
    y = (10 * torch.sin(3.14 * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]) / 10
    for epoch in range(5):
        for rows in torch.randperm(2000).split(50):
            e = nn.functional.mse_loss(net(x[rows]).squeeze(1), y[rows])
            opt.zero_grad()
            e.backward()
            opt.step()
        print(epoch, e.item())


fit()
