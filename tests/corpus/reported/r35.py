"""Digits with mixup, label smoothing and an averaged copy of the weights."""
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(77)
X, y = load_digits(return_X_y=True)
full = TensorDataset(torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y))
train_set, val_set = random_split(full, [1400, len(full) - 1400])
train_loader = DataLoader(train_set, batch_size=70, shuffle=True, drop_last=True)
val_loader = DataLoader(val_set, batch_size=200, shuffle=False)


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.state_dict().values(), model.state_dict().values()):
            if s.dtype.is_floating_point:
                s.mul_(self.decay).add_(p, alpha=1 - self.decay)
            else:
                s.copy_(p)


model = nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
ema = EMA(model, 0.95)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.2, total_steps=12 * len(train_loader))
beta = torch.distributions.Beta(0.3, 0.3)


def accuracy(m):
    m.eval()
    with torch.no_grad():
        return sum((m(a).argmax(1) == b).sum().item() for a, b in val_loader) / len(val_set)


for epoch in range(12):
    model.train()
    for x, t in train_loader:
        lam, other = beta.sample(), torch.randperm(len(x))
        out = model(lam * x + (1 - lam) * x[other])
        loss = lam * F.cross_entropy(out, t, label_smoothing=0.1) + (1 - lam) * F.cross_entropy(out, t[other], label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        ema.update(model)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} loss {loss.item():.3f} raw {accuracy(model):.3f} averaged {accuracy(ema.shadow):.3f}")
