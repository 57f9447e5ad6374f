"""Digits on a small machine: four images at a time, sixty-four per update."""
import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )
        self.classifier = nn.Linear(24 * 4, 10)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def get_loaders(seed, micro_batch):
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images.reshape(-1, 1, 8, 8) / 16.0, dtype=torch.float32)
    y = torch.tensor(labels)
    tr, te = train_test_split(range(len(x)), test_size=0.25, random_state=seed, stratify=labels)
    train = DataLoader(TensorDataset(x[tr], y[tr]), batch_size=micro_batch, shuffle=True)
    test = DataLoader(TensorDataset(x[te], y[te]), batch_size=256)
    return train, test


def train_one_epoch(model, loader, criterion, optimizer, accum_steps):
    model.train()
    running, updates = 0.0, 0
    for step, (images, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        (loss / accum_steps).backward()
        running += loss.item()
        if (step + 1) % accum_steps == 0 or step + 1 == len(loader):
            optimizer.step()
            updates += 1
    return running / len(loader), updates


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    loss = hits = count = 0
    for images, labels in loader:
        out = model(images)
        loss += criterion(out, labels).item() * len(labels)
        hits += (out.argmax(1) == labels).sum().item()
        count += len(labels)
    return loss / count, hits / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--micro-batch", type=int, default=4)
    parser.add_argument("--accum-steps", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train_loader, test_loader = get_loaders(args.seed, args.micro_batch)
    model = SmallNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    print(f"effective batch size {args.micro_batch * args.accum_steps}")
    for epoch in range(1, args.epochs + 1):
        loss, updates = train_one_epoch(model, train_loader, criterion, optimizer, args.accum_steps)
        test_loss, acc = evaluate(model, test_loader, criterion)
        print(f"epoch {epoch}  updates {updates}  train loss {loss:.3f}  test loss {test_loss:.3f}  test acc {acc:.3f}")


if __name__ == "__main__":
    main()
