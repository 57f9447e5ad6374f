"""A deep tanh network for a function of four variables; the first layer is a fixed random Fourier map."""
import torch
from torch import nn


class Fourier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(4, 32)
        for i in range(2, 15):
            setattr(self, f"layer{i}", nn.Linear(32, 32))
        self.readout = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.sin(2 * self.layer1(x))
        for i in range(2, 15):
            x = x + 0.5 * torch.tanh(getattr(self, f"layer{i}")(x))
        return self.readout(x).squeeze(-1)


def target(x):
    return torch.sin(3 * x[:, 0]) * x[:, 1] + torch.cos(2 * x[:, 2] * x[:, 3])


def main():
    torch.manual_seed(73)
    f = Fourier()
    # the Fourier features stay as they were drawn
    for name, p in f.named_parameters():
        if name.startswith("layer1"):
            p.requires_grad_(False)
    opt = torch.optim.Adam([p for p in f.parameters() if p.requires_grad], lr=1e-3)
    for i in range(300):
        x = torch.rand(96, 4) * 2 - 1
        diff = (f(x) - target(x)).square().mean()
        opt.zero_grad()
        diff.backward()
        opt.step()
        if i % 50 == 0:
            print(i, diff.item())
    x = torch.rand(2000, 4) * 2 - 1
    with torch.no_grad():
        print("r2", 1 - ((f(x) - target(x)).square().mean() / target(x).var()).item())


if __name__ == "__main__":
    main()
