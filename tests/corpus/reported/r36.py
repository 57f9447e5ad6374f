"""GRU forecaster with heavy-tailed measurements, gradient norm limited for stability."""
import torch
from torch import nn

torch.manual_seed(4)


def series(n, t=24):
    phase = torch.rand(n, 1) * 6.28
    freq = 0.3 + 0.4 * torch.rand(n, 1)
    clean = torch.sin(phase + freq * torch.arange(t + 1))
    y = 3 * clean[:, -1:]
    outlier = (torch.rand(n, 1) < 0.03).float()
    y = y + outlier * torch.randn(n, 1) * 300
    return (clean + 0.05 * torch.randn(n, t + 1))[:, :-1].unsqueeze(-1), y, 3 * clean[:, -1:]


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.out(h[-1])


def fit(model, data, max_grad_norm=1.0, epochs=6, lr=0.1):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)
    x, y, _ = data
    for epoch in range(epochs):
        total, n = 0.0, 0
        for rows in torch.randperm(len(x)).split(32):
            loss = ((model(x[rows]) - y[rows]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if max_grad_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            total, n = total + loss.item(), n + 1
        print(f"epoch {epoch}: mean squared error {total / n:.2f}")


train, test = series(1200), series(300)
model = Forecaster()
fit(model, train)
with torch.no_grad():
    err = (model(test[0]) - test[2]).abs().mean()
print(f"test MAE against the clean target {err:.3f}")
