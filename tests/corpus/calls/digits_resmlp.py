"""Residual MLP on the 8x8 digits with a step schedule; keeps the best validation epoch for the test set."""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=96)
parser.add_argument("--depth", type=int, default=3)
parser.add_argument("--drop", type=float, default=0.5)
parser.add_argument("--epochs", type=int, default=40)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--seed", type=int, default=21)
args = parser.parse_args()


class Residual(nn.Module):
    def __init__(self, width, drop):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)
        self.drop = drop

    def forward(self, x):
        h = F.gelu(self.fc1(self.norm(x)))
        h = nn.Dropout(p=self.drop)(h)
        return x + self.fc2(h)


class ResMLP(nn.Module):
    def __init__(self, n_in, width, depth, drop, n_out=10):
        super().__init__()
        self.stem = nn.Linear(n_in, width)
        self.blocks = nn.ModuleList([Residual(width, drop) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.drop = drop
        self.fc = nn.Linear(width, n_out)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = nn.Dropout(p=self.drop)(self.norm(x))
        return self.fc(x)


def load(seed):
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0 - 0.3, dtype=torch.float32)
    y = torch.tensor(y)
    idx_train, idx_rest = train_test_split(range(len(y)), test_size=0.5, stratify=y, random_state=seed)
    idx_val, idx_test = idx_rest[: len(idx_rest) // 2], idx_rest[len(idx_rest) // 2 :]
    return [(x[i], y[i]) for i in (idx_train, idx_val, idx_test)]


@torch.no_grad()
def score(model, x, y):
    model.eval()
    logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


torch.manual_seed(args.seed)
(train_x, train_y), (val_x, val_y), (test_x, test_y) = load(args.seed)
model = ResMLP(64, args.width, args.depth, args.drop)
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=15, gamma=0.4)
best = (0.0, None)
for epoch in range(1, args.epochs + 1):
    model.train()
    order = torch.randperm(len(train_y))
    running = 0.0
    for idx in order.split(args.batch):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(train_x[idx]), train_y[idx])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    scheduler.step()
    val_loss, val_acc = score(model, val_x, val_y)
    if val_acc > best[0]:
        best = (val_acc, copy.deepcopy(model.state_dict()))
    if epoch % 5 == 0:
        print(f"[{epoch:3d}] train {running / len(order):.4f}  val {val_loss:.4f}  acc {val_acc:.4f}")

model.load_state_dict(best[1])
test_loss, test_acc = score(model, test_x, test_y)
print(f"best val acc {best[0]:.4f}   test loss {test_loss:.4f}  test acc {test_acc:.4f}")
