import argparse
import os
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset


class DigitSet(Dataset):
    """8x8 digits kept in memory as one float array."""

    def __init__(self, images, labels, erase=0.0, size=2):
        self.images = np.ascontiguousarray(images, dtype=np.float32)
        self.labels = labels.astype(np.int64)
        self.erase = erase
        self.size = size

    def __len__(self):
        return len(self.labels)

    def random_erase(self, img):
        if random.random() < self.erase:
            top = random.randint(0, 8 - self.size)
            left = random.randint(0, 8 - self.size)
            img[top:top + self.size, left:left + self.size] = 0.0
        return img

    def __getitem__(self, i):
        img = self.images[i]
        if self.erase > 0:
            img = self.random_erase(img)
        return torch.from_numpy(img).unsqueeze(0), int(self.labels[i])


class SmallConvNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.fc1 = nn.Linear(2 * width * 4, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right, total, loss = 0, 0, 0.0
    for x, y in loader:
        out = model(x)
        loss += F.cross_entropy(out, y, reduction="sum").item()
        right += (out.argmax(1) == y).sum().item()
        total += y.numel()
    return loss / total, right / total


def train_epoch(model, loader, optimizer):
    model.train()
    right, total, loss_sum = 0, 0, 0.0
    for x, y in loader:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * y.numel()
        right += (out.argmax(1) == y).sum().item()
        total += y.numel()
    return loss_sum / total, right / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--erase", type=float, default=0.7)
    args = parser.parse_args()

    seed = int(os.environ.get("SEED", "0"))
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)

    digits = load_digits()
    x_tr, x_te, y_tr, y_te = train_test_split(
        digits.images / 16.0, digits.target, test_size=0.3,
        random_state=seed, stratify=digits.target)

    train_loader = DataLoader(DigitSet(x_tr, y_tr, erase=args.erase),
                              batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(DigitSet(x_te, y_te), batch_size=256)

    model = SmallConvNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-3)
    start = time.time()
    for epoch in range(1, args.epochs + 1):
        tr_loss, tr_acc = train_epoch(model, train_loader, optimizer)
        te_loss, te_acc = evaluate(model, test_loader)
        if epoch % 4 == 0 or epoch == 1:
            print(f"epoch {epoch:3d}  train loss {tr_loss:.4f} acc {tr_acc:.4f}  "
                  f"test loss {te_loss:.4f} acc {te_acc:.4f}")
    print(f"finished in {time.time() - start:.1f}s")
    print(f"final train_loss={tr_loss:.4f} test_loss={te_loss:.4f} test_acc={te_acc:.4f}")


if __name__ == "__main__":
    main()
