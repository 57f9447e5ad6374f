"""Regression on the diabetes data with uncertainty from repeated stochastic passes."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=60)
parser.add_argument("--passes", type=int, default=100)
parser.add_argument("--drop", type=float, default=0.3)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--seed", type=int, default=2)
args = parser.parse_args()


class StochasticNet(nn.Module):
    def __init__(self, n_in, width, drop):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(n_in, width), nn.Linear(width, width)
        self.mean, self.log_var = nn.Linear(width, 1), nn.Linear(width, 1)
        self.drop = drop

    def forward(self, x):
        h = F.dropout(F.silu(self.fc1(x)), self.drop)
        h = F.dropout(F.silu(self.fc2(h)), self.drop)
        return self.mean(h).squeeze(-1), self.log_var(h).squeeze(-1).clamp(-5, 3)


def prepare(seed):
    x, y = load_diabetes(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, random_state=seed)
    mu, sd = y_tr.mean(), y_tr.std()
    scale = np.sqrt(len(x))
    as_tensor = lambda a: torch.tensor(a, dtype=torch.float32)
    ridge = Ridge(alpha=1.0).fit(x_tr * scale, y_tr)
    print(f"ridge r2 {r2_score(y_te, ridge.predict(x_te * scale)):.3f}")
    return as_tensor(x_tr * scale), as_tensor((y_tr - mu) / sd), as_tensor(x_te * scale), as_tensor((y_te - mu) / sd)


@torch.no_grad()
def predict(model, x, passes):
    means, variances = [], []
    for _ in range(passes):
        mean, log_var = model(x)
        means.append(mean)
        variances.append(log_var.exp())
    means, variances = torch.stack(means), torch.stack(variances)
    return means.mean(0), (variances.mean(0) + means.var(0)).sqrt()


def summary(model, x, y):
    mean, std = predict(model, x, args.passes)
    inside = ((y - mean).abs() < 1.645 * std).float().mean().item()
    once = model(x)[0].detach()
    return r2_score(y.numpy(), mean.numpy()), r2_score(y.numpy(), once.numpy()), inside


torch.manual_seed(args.seed)
train_x, train_y, test_x, test_y = prepare(args.seed)
model = StochasticNet(train_x.shape[1], 64, args.drop)
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
for epoch in range(1, args.epochs + 1):
    total = 0.0
    for idx in torch.randperm(len(train_y)).split(64):
        mean, log_var = model(train_x[idx])
        loss = 0.5 * (log_var + (train_y[idx] - mean).pow(2) / log_var.exp()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    scheduler.step()
    if epoch % 10 == 0:
        r2, once, inside = summary(model, test_x, test_y)
        print(f"epoch {epoch:3d}  nll {total / len(train_y):+.4f}  r2 of {args.passes} passes {r2:.3f}, of one pass {once:.3f}  "
              f"inside the 90% band {inside:.3f}")
