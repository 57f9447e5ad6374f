"""Digits on a larger canvas; the positions get more varied as training goes on."""
import os
import time

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

CANVAS = 16
MAX_SHIFT = (CANVAS - 8) // 2


class PlacedDigits(Dataset):
    def __init__(self, images, labels, level=0, fixed=False, seed=0):
        self.images = images
        self.labels = labels
        self.level = level
        self.offsets = None
        if fixed:
            g = torch.Generator().manual_seed(seed)
            self.offsets = torch.randint(-level, level + 1, (len(labels), 2), generator=g)

    def set_level(self, level):
        self.level = min(level, MAX_SHIFT)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        if self.offsets is not None:
            dy, dx = self.offsets[index].tolist()
        else:
            dy, dx = torch.randint(-self.level, self.level + 1, (2,)).tolist()
        canvas = torch.zeros(1, CANVAS, CANVAS)
        top, left = MAX_SHIFT + dy, MAX_SHIFT + dx
        canvas[0, top:top + 8, left:left + 8] = self.images[index]
        return canvas, self.labels[index]


class Mlp(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.net = nn.Sequential(
            nn.Flatten(),
            nn.Linear(CANVAS * CANVAS, hidden), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 10),
        )

    def forward(self, x):
        return self.net(x)


def score(model, loader):
    model.eval()
    hit = n = 0
    with torch.no_grad():
        for x, y in loader:
            hit += (model(x).argmax(1) == y).sum().item()
            n += len(y)
    return hit / n


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    digits = load_digits()
    images = torch.tensor(digits.images / 16.0, dtype=torch.float32)
    labels = torch.tensor(digits.target)
    perm = torch.randperm(len(labels))
    tr, te = perm[:1300], perm[1300:]

    train_set = PlacedDigits(images[tr], labels[tr])
    centred = PlacedDigits(images[te], labels[te], level=0, fixed=True)
    anywhere = PlacedDigits(images[te], labels[te], level=MAX_SHIFT, fixed=True, seed=seed + 1)

    train_loader = DataLoader(train_set, batch_size=64, shuffle=True, num_workers=2,
                              persistent_workers=False)
    centred_loader = DataLoader(centred, batch_size=256)
    anywhere_loader = DataLoader(anywhere, batch_size=256)

    model = Mlp()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    epochs = 40
    start = time.time()
    for epoch in range(epochs):
        train_set.set_level(epoch // 4)
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        if (epoch + 1) % 5 == 0:
            print(f"epoch {epoch + 1:2d} level {train_set.level} loss {total / len(train_set):.4f} "
                  f"centred {score(model, centred_loader):.4f} anywhere {score(model, anywhere_loader):.4f}")

    print(f"seconds {time.time() - start:.1f}")
    print(f"train_loss={total / len(train_set):.4f} centred_acc={score(model, centred_loader):.4f} "
          f"anywhere_acc={score(model, anywhere_loader):.4f}")


if __name__ == "__main__":
    main()
