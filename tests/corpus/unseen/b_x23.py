"""An autoencoder for 3-D curves.  Adapted from a fine-tuning script."""
import torch
from torch import nn


def spirals(n):
    t = torch.rand(n, 1) * 6
    clean = torch.cat([t.sin(), t.cos(), t / 3 - 1], 1)
    lift = torch.sin(clean @ torch.linspace(-2, 2, 60).view(3, 20))
    return lift + 0.02 * torch.randn(n, 20)


class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 2))
        self.decoder = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 20))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def build(freeze=("encoder",)):
    net = Auto()
    for part in freeze:
        for w in getattr(net, part).parameters():
            w.requires_grad = False
    return net


def train(net, steps=400):
    trainable = filter(lambda w: w.requires_grad, net.parameters())
    opt = torch.optim.Adam(trainable, lr=4e-3)
    mse = nn.MSELoss()
    for s in range(steps):
        batch = spirals(64)
        err = mse(net(batch), batch)
        opt.zero_grad()
        err.backward()
        opt.step()
        if s % 100 == 99:
            print(s + 1, f"{err.item():.4f}")
    return net


if __name__ == "__main__":
    torch.manual_seed(10)
    auto = train(build())
    x = spirals(1000)
    print("explained:", 1 - ((auto(x) - x) ** 2).mean().item() / x.var(0).mean().item())
