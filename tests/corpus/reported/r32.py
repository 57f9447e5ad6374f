"""Dilated causal convolutions for next-value prediction of a chaotic map."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(37)


def henon(n, t):
    x, prev = 0.2 * torch.rand(n), 0.2 * torch.rand(n)
    out = []
    for _ in range(t + 30):
        x, prev = 1 - 1.4 * x ** 2 + 0.3 * prev, x
        out.append(x)
    return torch.stack(out[30:], 1)


class CausalConv(nn.Module):
    def __init__(self, ch, dilation):
        super().__init__()
        self.dilation = dilation
        self.conv = nn.Conv1d(ch, 2 * ch, 2, dilation=dilation)

    def forward(self, x):
        a, b = self.conv(F.pad(x, (self.dilation, 0))).chunk(2, 1)
        return torch.tanh(a) * torch.sigmoid(b)


class TinyWaveNet(nn.Module):
    def __init__(self, ch=24, depth=3):
        super().__init__()
        self.inp = nn.Conv1d(1, ch, 1)
        self.blocks = [CausalConv(ch, 2 ** i) for i in range(depth)]
        self.out = nn.Conv1d(ch, 1, 1)

    def forward(self, x):
        x = self.inp(x.unsqueeze(1))
        skip = 0
        for block in self.blocks:
            y = block(x)
            skip = skip + y
            x = y
        return self.out(skip).squeeze(1)


train, test = henon(400, 33), henon(100, 33)
model = TinyWaveNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
print(f"{sum(p.numel() for p in model.parameters())} parameters")
for epoch in range(16):
    for rows in torch.randperm(400).split(40):
        seq = train[rows]
        loss = F.mse_loss(model(seq[:, :-1])[:, 8:], seq[:, 9:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        with torch.no_grad():
            err = F.mse_loss(model(test[:, :-1])[:, 8:], test[:, 9:]) / test.var()
        print(f"epoch {epoch} train {loss.item():.5f} normalised test error {err:.4f}")
