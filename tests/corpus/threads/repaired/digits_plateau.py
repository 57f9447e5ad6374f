"""Digits with a plain network, momentum SGD and a learning rate that follows the validation result."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Net(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.fc1 = nn.Linear(64, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 10)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = self.drop(F.relu(self.fc2(x)))
        return self.fc3(x)


def load(seed):
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images / 16.0, dtype=torch.float32)
    y = torch.tensor(labels)
    rest, test = train_test_split(range(len(x)), test_size=0.25, random_state=seed, stratify=labels)
    train, val = train_test_split(rest, test_size=0.2, random_state=seed, stratify=labels[rest])
    return [(x[i], y[i]) for i in (train, val, test)]


def train_epoch(model, optimizer, x, y, size):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x)).split(size):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    return total / len(x)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--patience", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    (x, y), val, test = load(args.seed)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.2, patience=args.patience)
    best, best_state = 0.0, None
    for epoch in range(1, args.epochs + 1):
        loss = train_epoch(model, optimizer, x, y, args.batch_size)
        val_acc = accuracy(model, *val)
        scheduler.step(val_acc)
        if val_acc > best:
            best = val_acc
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  train loss {loss:.4f}  val acc {val_acc:.3f}  best {best:.3f}")
    model.load_state_dict(best_state)
    print(f"test acc of the best epoch {accuracy(model, *test):.3f}")


if __name__ == "__main__":
    main()
