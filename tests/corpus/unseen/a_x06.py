"""Low-rank adapters on a network that was trained on upright digits; now they come rotated."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class LoRA(nn.Module):
    def __init__(self, base, rank=6, alpha=12):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.randn(rank, base.in_features) * base.in_features**-0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)


def loop(model, data, target, epochs, lr):
    todo = [p for p in model.parameters() if p.requires_grad]
    print("trainable", sum(p.numel() for p in todo), "of", sum(p.numel() for p in model.parameters()))
    opt = torch.optim.AdamW(todo, lr=lr)
    for _ in range(epochs):
        for idx in torch.randperm(len(data)).split(64):
            loss = nn.functional.cross_entropy(model(data[idx]), target[idx])
            loss.backward()
            opt.step()
            opt.zero_grad()
    return loss.item()


def accuracy(model, data, target):
    with torch.no_grad():
        return (model(data).argmax(1) == target).float().mean().item()


def main():
    torch.manual_seed(70)
    d = load_digits()
    order = torch.randperm(len(d.target))
    up = torch.tensor(d.images).float()[order] / 16
    y = torch.tensor(d.target)[order]
    turned = up.rot90(1, (1, 2)).flatten(1)
    up = up.flatten(1)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    loop(model, up[:1200], y[:1200], 8, 3e-3)
    print("upright", accuracy(model, up[1200:], y[1200:]), "turned", accuracy(model, turned[1200:], y[1200:]))
    for i in (0, 2, 4):
        model[i] = LoRA(model[i])
    loop(model, turned[:1200], y[:1200], 10, 5e-3)
    print("turned, adapted", accuracy(model, turned[1200:], y[1200:]))


if __name__ == "__main__":
    main()
