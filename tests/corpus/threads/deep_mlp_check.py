"""A deep network on digits; accuracy is checked every so many iterations."""
import argparse
import itertools

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--depth", type=int, default=10)
    p.add_argument("--width", type=int, default=48)
    p.add_argument("--max-iters", type=int, default=1200)
    p.add_argument("--log-every", type=int, default=50)
    p.add_argument("--check-every", type=int, default=200)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


class DeepNet(nn.Module):
    def __init__(self, depth, width, num_classes=10):
        super().__init__()
        layers = []
        dim = 64
        for _ in range(depth):
            layers += [nn.Linear(dim, width), nn.BatchNorm1d(width), nn.ReLU(inplace=True)]
            dim = width
        self.trunk = nn.Sequential(*layers)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(dim, num_classes)

    def forward(self, x):
        return self.out(self.drop(self.trunk(x)))


def get_loaders(seed):
    x, y = load_digits(return_X_y=True)
    xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.3, random_state=seed, stratify=y)

    def to_set(a, b):
        return TensorDataset(torch.tensor(a / 16.0, dtype=torch.float32), torch.tensor(b))
    return (DataLoader(to_set(xtr, ytr), batch_size=64, shuffle=True, drop_last=True),
            DataLoader(to_set(xva, yva), batch_size=256))


def switch(mode, models):
    for m in models:
        if mode == "train":
            m.train()
        if mode == "eval":
            m.eval()


def share_right(model, loader, max_batches=None):
    switch("eval", [model])
    right, seen = 0, 0
    with torch.no_grad():
        for x, y in itertools.islice(loader, max_batches):
            preds = model(x).argmax(1)
            right += (preds == y).sum().item()
            seen += len(y)
    return right / seen


def train_loop(args, model, train_loader, val_loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    stats = {"train_losses": [], "train_accs": [], "val_accs": []}
    switch("train", [model])
    t, epoch = 0, 0
    while t < args.max_iters:
        epoch += 1
        for x, y in train_loader:
            t += 1
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            if t % args.log_every == 0:
                stats["train_losses"].append(loss.item())
            if t == 1 or t % args.check_every == 0:
                train_acc = share_right(model, train_loader, max_batches=5)
                val_acc = share_right(model, val_loader)
                stats["train_accs"].append(train_acc)
                stats["val_accs"].append(val_acc)
                print(f"iter {t:4d} epoch {epoch:2d} loss {loss.item():.3f} train {train_acc:.3f} val {val_acc:.3f}")
            if t >= args.max_iters:
                break
    return stats


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    train_loader, val_loader = get_loaders(args.seed)
    model = DeepNet(args.depth, args.width)
    stats = train_loop(args, model, train_loader, val_loader)
    print(f"best val {max(stats['val_accs']):.3f}, last val {stats['val_accs'][-1]:.3f}")


if __name__ == "__main__":
    main()
