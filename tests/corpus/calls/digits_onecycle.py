"""Digits with a small conv net and the one-cycle policy."""
import argparse

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


def conv_bn(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class Net(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.features = nn.Sequential(
            conv_bn(1, ch), nn.MaxPool2d(2),
            conv_bn(ch, 2 * ch), nn.MaxPool2d(2),
        )
        self.classifier = nn.Linear(8 * ch, 10)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def loaders(batch_size, seed):
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
    x = x + 0.2 * torch.randn(x.shape, generator=torch.Generator().manual_seed(seed))
    parts = train_test_split(x.numpy(), y, test_size=400, stratify=y, random_state=seed)
    x_tr, x_te, y_tr, y_te = map(torch.tensor, parts)
    train = DataLoader(TensorDataset(x_tr, y_tr), batch_size=batch_size, shuffle=True, drop_last=True)
    test = DataLoader(TensorDataset(x_te, y_te), batch_size=200)
    return train, test


def train_one_epoch(model, loader, criterion, optimizer):
    model.train()
    meter = [0.0, 0]
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter[0] += loss.item() * len(y)
        meter[1] += len(y)
    return meter[0] / meter[1]


@torch.no_grad()
def test_model(model, loader, criterion):
    model.eval()
    loss, correct, n = 0.0, 0, 0
    for x, y in loader:
        out = model(x)
        loss += criterion(out, y).item() * len(y)
        correct += out.argmax(1).eq(y).sum().item()
        n += len(y)
    return loss / n, correct / n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--max-lr", type=float, default=0.05)
    parser.add_argument("--wd", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=13)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train, test = loaders(args.batch_size, args.seed)
    model = Net(12)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=args.max_lr, momentum=0.9, weight_decay=args.wd)
    scheduler = optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=args.max_lr, epochs=args.epochs, steps_per_epoch=len(train), div_factor=50
    )
    for epoch in range(args.epochs):
        train_loss = train_one_epoch(model, train, criterion, optimizer)
        test_loss, acc = test_model(model, test, criterion)
        scheduler.step()
        print(f"epoch {epoch}  train {train_loss:.4f}  test {test_loss:.4f}  acc {acc:.4f}")


if __name__ == "__main__":
    main()
