# A residual MLP for digits. Biases and norms get no weight decay.
import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(33)


class Residual(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.lin = nn.Linear(d, d)

    def forward(self, x):
        return x + torch.relu(self.lin(self.norm(x)))


class ResMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(64, 48)
        self.stages = nn.ModuleList(Residual(48) for _ in range(4))
        self.classify = nn.Linear(48, 10)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.classify(x)


def parameter_groups(module):
    decay, plain = [], []
    for name, p in module.named_parameters():
        if p.ndim > 1 and "stages" in name:
            p.requires_grad_(False)
            decay.append(p)
        else:
            plain.append(p)
    return [{"params": decay, "weight_decay": 1e-2}, {"params": plain, "weight_decay": 0.0}]


digits = load_digits()
inp = torch.from_numpy(digits.data).float() / 16
lab = torch.from_numpy(digits.target)
model = ResMLP()
optim = torch.optim.AdamW(parameter_groups(model), lr=1e-3)
for epoch in range(6):
    for b in torch.randperm(1400).split(50):
        optim.zero_grad()
        ce = nn.functional.cross_entropy(model(inp[b]), lab[b])
        ce.backward()
        optim.step()
    with torch.no_grad():
        print(epoch, ce.item(), (model(inp[1400:]).argmax(1) == lab[1400:]).float().mean().item())
