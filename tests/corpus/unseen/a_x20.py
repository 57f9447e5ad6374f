"""Accumulate four batches, then step."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def prepare():
    X, y = load_digits(return_X_y=True)
    full = TensorDataset(torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y))
    return random_split(full, [1440, len(full) - 1440])


def train_one_epoch(model, loader, optimizer, criterion, accumulate):
    model.train()
    total = 0
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / accumulate
        loss.backward()
        total += loss.item() * accumulate
        if (step + 1) % accumulate == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
    optimizer.zero_grad()
    return total / len(loader)


@torch.no_grad()
def test(model, loader):
    model.eval()
    return sum((model(x).argmax(-1) == y).sum().item() for x, y in loader) / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(38)
    train_set, test_set = prepare()
    train_loader, test_loader = DataLoader(train_set, 12, shuffle=True), DataLoader(test_set, 256)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.4)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for epoch in range(7):
        l = train_one_epoch(model, train_loader, optimizer, nn.CrossEntropyLoss(), 4)
        scheduler.step()
        print(f"{epoch=} {l:.4f} {test(model, test_loader):.4f}")
