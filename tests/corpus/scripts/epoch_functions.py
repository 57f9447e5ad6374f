"""Functions that take everything as arguments, a criterion object, SGD with momentum, a scheduler."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]).float().view(1, 8, 8) / 16.0, int(self.y[i])


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )  # fmt: skip
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(128, 10)

    def forward(self, x):
        return self.fc(self.drop(self.features(x).flatten(1)))


def train_one_epoch(net, loader, criterion, opt):
    net.train()
    running = 0.0
    for x, y in loader:
        opt.zero_grad()
        out = net(x)
        batch_loss = criterion(out, y)
        batch_loss.backward()
        opt.step()
        running += batch_loss.item()
    return running / len(loader)


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    hits = sum((F.softmax(net(x), dim=1).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def main():
    torch.manual_seed(3)
    x, y = load_digits(return_X_y=True)
    xtr, xte, ytr, yte = train_test_split(x, y, test_size=0.3, random_state=3, stratify=y)
    train_dl = DataLoader(Digits(xtr, ytr), batch_size=48, shuffle=True)
    test_dl = DataLoader(Digits(xte, yte), batch_size=128)
    net = ConvNet()
    criterion = nn.CrossEntropyLoss()
    opt = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    scheduler = optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    for ep in range(3):
        tr = train_one_epoch(net, train_dl, criterion, opt)
        acc = evaluate(net, test_dl)
        scheduler.step()
        print(f"epoch {ep} loss {tr:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
