"""Phase 1 on upright digits, phase 2 goes on from its checkpoint on digits from a mirrored camera."""
import argparse
import io

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=9)
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--finetune_epochs", type=int, default=8)
parser.add_argument("--finetune_lr", type=float, default=0.01)
args = parser.parse_args()
torch.manual_seed(args.seed)


def loaders():
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    train, test = order[:1300], order[1300:]
    mirrored = x.flip(-1)

    def pair(images):
        return (DataLoader(TensorDataset(images[train], y[train]), batch_size=32, shuffle=True),
                DataLoader(TensorDataset(images[test], y[test]), batch_size=256))

    return pair(x), pair(mirrored)


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()
        )
        self.fc = nn.Linear(32 * 16, 10)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


def run_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def pretrain(train_loader, test_loader):
    model = SmallCNN()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs, eta_min=1e-5)
    for epoch in range(args.epochs):
        loss = run_epoch(model, train_loader, optimizer)
        scheduler.step()
    print(f"phase 1: loss {loss:.4f} test acc {accuracy(model, test_loader):.3f}")
    buffer = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": args.epochs}, buffer)
    buffer.seek(0)
    return buffer


def finetune(checkpoint, train_loader, test_loader):
    state = torch.load(checkpoint)
    model = SmallCNN()
    model.load_state_dict(state["model"])
    optimizer = torch.optim.SGD(model.parameters(), lr=args.finetune_lr, momentum=0.9)
    optimizer.load_state_dict(state["optimizer"])
    print(f"phase 2 starts at epoch {state['epoch']}, test acc {accuracy(model, test_loader):.3f}")
    for epoch in range(args.finetune_epochs):
        loss = run_epoch(model, train_loader, optimizer)
        print(f"phase 2 epoch {epoch + 1} loss {loss:.4f} test acc {accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    upright, mirrored = loaders()
    finetune(pretrain(*upright), *mirrored)
