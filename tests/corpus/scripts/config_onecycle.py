"""Config dataclass, OneCycleLR, AdamW with two parameter groups, early stopping."""

import dataclasses

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


@dataclasses.dataclass
class Config:
    hidden: int = 32
    lr: float = 1e-2
    weight_decay: float = 1e-2
    epochs: int = 15
    batch_size: int = 16
    patience: int = 5
    seed: int = 42


cfg = Config()
torch.manual_seed(cfg.seed)
rng = np.random.default_rng(cfg.seed)


def build(cfg, n_in, n_out):
    return nn.Sequential(
        nn.Linear(n_in, cfg.hidden), nn.LayerNorm(cfg.hidden), nn.GELU(), nn.Dropout(0.1), nn.Linear(cfg.hidden, n_out)
    )


def param_groups(net, wd):
    decay = [p for p in net.parameters() if p.ndim >= 2]
    rest = [p for p in net.parameters() if p.ndim < 2]
    return [{"params": decay, "weight_decay": wd}, {"params": rest, "weight_decay": 0.0}]


X, y = load_wine(return_X_y=True)
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
sc = StandardScaler().fit(X_tr)
X_tr, X_va = (torch.tensor(sc.transform(a), dtype=torch.float32) for a in (X_tr, X_va))
y_tr, y_va = torch.tensor(y_tr), torch.tensor(y_va)

net = build(cfg, X_tr.shape[1], 3)
crit = nn.CrossEntropyLoss()
optimiser = torch.optim.AdamW(param_groups(net, cfg.weight_decay), lr=cfg.lr)
steps_per_epoch = -(-len(X_tr) // cfg.batch_size)
sched = torch.optim.lr_scheduler.OneCycleLR(
    optimiser, max_lr=cfg.lr, epochs=cfg.epochs, steps_per_epoch=steps_per_epoch
)

best, bad, best_state = float("inf"), 0, None
for ep in range(cfg.epochs):
    net.train()
    perm = torch.from_numpy(rng.permutation(len(X_tr)))
    for i in range(0, len(perm), cfg.batch_size):
        idx = perm[i : i + cfg.batch_size]
        optimiser.zero_grad(set_to_none=True)
        err = crit(net(X_tr[idx]), y_tr[idx])
        err.backward()
        optimiser.step()
        sched.step()
    net.eval()
    with torch.no_grad():
        va = crit(net(X_va), y_va).item()
    if va < best - 1e-4:
        best, bad = va, 0
        best_state = {k: v.clone() for k, v in net.state_dict().items()}
    else:
        bad += 1
        if bad >= cfg.patience:
            break
net.load_state_dict(best_state)
net.eval()
with torch.no_grad():
    print("val acc", (net(X_va).argmax(1) == y_va).float().mean().item())
