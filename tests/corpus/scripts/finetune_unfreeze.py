"""Fine-tuning: pretrained weights come from a state dict; backbone frozen for an epoch, then unfrozen with a lower rate."""

import copy

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, t = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
low = t < 5


def make(n):
    return nn.ModuleDict(
        {
            "backbone": nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU()),
            "head": nn.Linear(32, n),
        }
    )


def forward(m, x):
    return m["head"](m["backbone"](x))


def epoch(m, x, y, opt):
    m.train()
    for i in torch.randperm(len(x)).split(32):
        opt.zero_grad()
        nn.functional.cross_entropy(forward(m, x[i]), y[i]).backward()
        opt.step()


pre = make(5)
o = torch.optim.Adam(pre.parameters(), lr=3e-3)
for _ in range(3):
    epoch(pre, X[low], t[low], o)
weights = copy.deepcopy(pre["backbone"].state_dict())

new = make(5)
new["backbone"].load_state_dict(weights)
new["backbone"].requires_grad_(False)
o = torch.optim.Adam((p for p in new.parameters() if p.requires_grad), lr=3e-3)
epoch(new, X[~low], t[~low] - 5, o)
new["backbone"].requires_grad_(True)
o.add_param_group({"params": new["backbone"].parameters(), "lr": 3e-4})
for _ in range(2):
    epoch(new, X[~low], t[~low] - 5, o)
new.eval()
with torch.no_grad():
    print((forward(new, X[~low]).argmax(1) == t[~low] - 5).float().mean())
