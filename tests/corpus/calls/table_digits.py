"""Digits kept in one table (64 pixels and the label in the last column), trained with a plain minibatch loop."""
import random
import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 5
EPOCHS = 25
BATCH = 32
LR = 1e-3

random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


def load_table():
    digits = load_digits()
    table = np.column_stack([digits.data / 16.0, digits.target]).astype(np.float32)
    order = np.random.permutation(len(table))
    return table[order[:1300]], table[order[1300:]]


def to_xy(rows):
    return torch.from_numpy(rows[:, :-1].copy()), torch.from_numpy(rows[:, -1].copy()).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(64, 10),
        )

    def forward(self, x):
        return self.net(x)


def test(model, rows):
    model.eval()
    x, y = to_xy(rows)
    with torch.no_grad():
        logits = model(x)
    loss = nn.functional.cross_entropy(logits, y).item()
    return loss, (logits.argmax(1) == y).float().mean().item()


def train_epoch(model, optimizer, rows):
    model.train()
    random.shuffle(rows)
    losses, hits = [], 0
    for start in range(0, len(rows), BATCH):
        x, y = to_xy(rows[start : start + BATCH])
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        hits += (logits.argmax(1) == y).sum().item()
    return float(np.mean(losses)), hits / len(rows)


if __name__ == "__main__":
    train_rows, test_rows = load_table()
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=LR, weight_decay=1e-5)
    for epoch in range(1, EPOCHS + 1):
        train_loss, train_acc = train_epoch(model, optimizer, train_rows)
        test_loss, test_acc = test(model, test_rows)
        print(f"[{epoch:02d}] train loss {train_loss:.4f} acc {train_acc:.3f} | "
              f"test loss {test_loss:.4f} acc {test_acc:.3f}")
