"""Coloured digits on coloured ground, a small conv net. Pictures come as height x width x RGB, uint8."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

SEED = 0
EPOCHS = 14
SIZE = 24


class ColourDigits(Dataset):
    def __init__(self, images, labels, seed):
        self.labels = labels.astype(np.int64)
        self.frames = self._render(images, np.random.default_rng(seed))

    @staticmethod
    def _render(images, rng):
        frames = []
        for im in images:
            big = np.kron(im / 16.0, np.ones((2, 2)))
            canvas = np.zeros((SIZE, SIZE))
            top, left = rng.integers(0, SIZE - 16 + 1, 2)
            canvas[top:top + 16, left:left + 16] = big
            ink, paper = rng.uniform(0.55, 1.0, 3), rng.uniform(0.0, 0.45, 3)
            rgb = canvas[..., None] * ink + (1 - canvas[..., None]) * paper
            frames.append((rgb * 255).astype(np.uint8))
        return np.stack(frames)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.frames[i], self.labels[i]


class ConvNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        chans = [3, 16, 32, 64]
        blocks = []
        for a, b in zip(chans[:-1], chans[1:]):
            blocks += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(chans[-1] * 9, classes)

    def forward(self, x):
        return self.fc(self.blocks(x).flatten(1))


def prepare(batch):
    imgs, labels = batch
    n, h, w, c = imgs.shape
    imgs = imgs.float().div(255.0).permute(0, 3, 1, 2)
    return (imgs - 0.5) / 0.25, labels


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    good = total = 0
    for batch in loader:
        x, y = prepare(batch)
        good += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    return good / total


def main():
    torch.manual_seed(SEED)
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    tr, te = order[:1200], order[1200:]
    train_set = ColourDigits(digits.images[tr], digits.target[tr], SEED)
    test_set = ColourDigits(digits.images[te], digits.target[te], SEED + 1)
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=256)
    model = ConvNet()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(EPOCHS):
        model.train()
        total = 0.0
        for batch in train_loader:
            x, y = prepare(batch)
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        if epoch % 2 == 1:
            print(f"epoch {epoch + 1:2d}  loss {total / len(train_set):.3f}  test acc {accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
