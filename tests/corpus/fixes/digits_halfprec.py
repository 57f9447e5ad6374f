import argparse
import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=24)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--max-norm", type=float, default=2.0)
    p.add_argument("--seed", type=int, default=int(os.environ.get("SEED", 0)))
    return p.parse_args()


class ConvNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, num_classes)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


def make_loaders(batch_size, seed):
    bunch = load_digits()
    x = torch.tensor(bunch.images, dtype=torch.float32).unsqueeze(1) / 16.0
    y = torch.tensor(bunch.target)
    idx_tr, idx_te = train_test_split(
        range(len(y)), test_size=0.25, random_state=seed, stratify=bunch.target
    )
    train = TensorDataset(x[idx_tr], y[idx_tr])
    test = TensorDataset(x[idx_te], y[idx_te])
    return (
        DataLoader(train, batch_size=batch_size, shuffle=True, drop_last=True),
        DataLoader(test, batch_size=256),
    )


def train_epoch(model, loader, optimizer, scaler, max_norm):
    model.train()
    total, seen = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
        loss = F.cross_entropy(logits.float(), y)
        scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item() * y.size(0)
        seen += y.size(0)
    return total / seen


@torch.no_grad()
def test_epoch(model, loader):
    model.eval()
    loss, hits, n = 0.0, 0, 0
    for x, y in loader:
        logits = model(x)
        loss += F.cross_entropy(logits, y, reduction="sum").item()
        hits += (logits.argmax(1) == y).sum().item()
        n += y.size(0)
    return loss / n, hits / n


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    train_loader, test_loader = make_loaders(args.batch_size, args.seed)
    model = ConvNet()
    optimizer = torch.optim.SGD(
        model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4
    )
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14)
    start = time.time()
    for epoch in range(1, args.epochs + 1):
        tr = train_epoch(model, train_loader, optimizer, scaler, args.max_norm)
        te, acc = test_epoch(model, test_loader)
        print(
            f"epoch {epoch:2d}  train {tr:.4f}  test {te:.4f}  acc {acc:.4f}"
            f"  ({time.time() - start:.1f}s)"
        )
    print(f"final test_loss={te:.4f} test_acc={acc:.4f}")


if __name__ == "__main__":
    main()
