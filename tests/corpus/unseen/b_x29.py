# Forecast a noisy oscillation with an LSTM; print the mean loss at the end.
import torch
from torch import nn

torch.manual_seed(14)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(1, 24, batch_first=True)
        self.read = nn.Linear(24, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.read(h)


def waves(n, length=41):
    t = torch.arange(length) * 0.3
    phase, freq = torch.rand(n, 1) * 6.28, 0.7 + 0.6 * torch.rand(n, 1)
    w = torch.sin(freq * t + phase) + 0.05 * torch.randn(n, length)
    return w[:, :-1, None], w[:, 1:, None]


f = Forecaster()
opt = torch.optim.RMSprop(f.parameters(), lr=3e-3)
criterion = nn.SmoothL1Loss()
epoch_loss = 0
for b in range(220):
    past, future = waves(24)
    loss = criterion(f(past), future)
    opt.zero_grad()
    loss.backward()
    opt.step()
    epoch_loss += loss
    if (b + 1) % 55 == 0:
        print(b + 1, "mean so far", (epoch_loss / (b + 1)).item())
