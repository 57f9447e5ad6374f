"""Rare-class detector on breast-cancer features, classes balanced by repetition."""
import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

rng = np.random.default_rng(3)
torch.manual_seed(3)


def load():
    x, y = load_breast_cancer(return_X_y=True)
    y = 1 - y
    pos, neg = np.where(y == 1)[0], np.where(y == 0)[0]
    pos = rng.choice(pos, 40, replace=False)
    keep = np.concatenate([pos, neg])
    cols = [1, 4, 8, 9, 11, 14, 18, 19, 24, 28]
    return x[keep][:, cols].astype("float32"), y[keep].astype("float32")


def balance(x, y):
    pos, neg = np.where(y == 1)[0], np.where(y == 0)[0]
    extra = rng.choice(pos, len(neg) - len(pos), replace=True)
    order = rng.permutation(np.concatenate([pos, neg, extra]))
    return x[order], y[order]


x, y = load()
x, y = balance(x, y)
dataset = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
n_val = len(dataset) // 4
train_set, val_set = random_split(dataset, [len(dataset) - n_val, n_val])
idx = torch.tensor(train_set.indices)
mean, std = dataset.tensors[0][idx].mean(0), dataset.tensors[0][idx].std(0)

net = nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(30):
    net.train()
    for xb, yb in DataLoader(train_set, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(net((xb - mean) / std).squeeze(1), yb)
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        net.eval()
        hits = tp = fn = 0
        with torch.no_grad():
            for xb, yb in DataLoader(val_set, batch_size=128):
                p = (net((xb - mean) / std).squeeze(1) > 0).float()
                hits += (p == yb).sum().item()
                tp += ((p == 1) & (yb == 1)).sum().item()
                fn += ((p == 0) & (yb == 1)).sum().item()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} val acc {hits / n_val:.3f} recall {tp / max(tp + fn, 1):.3f}")
