"""Digits photographed by phone (never quite centred): few labelled scans for training, augmentation by jitter."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

CANVAS = 14


class Centre:
    def __call__(self, img):
        pad = (CANVAS - 8) // 2
        return F.pad(img, (pad, pad, pad, pad))


class Jitter:
    """Places the digit anywhere on the canvas and changes the contrast a little."""

    def __call__(self, img):
        room = CANVAS - 8
        left, top = torch.randint(0, room + 1, (2,)).tolist()
        gain = 0.7 + 0.6 * torch.rand(())
        return F.pad(img, (left, room - left, top, room - top)) * gain


class DigitScans(Dataset):
    def __init__(self, images, labels, transform=None):
        self.images, self.labels, self.transform = images, labels, transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i]).float().div(16).unsqueeze(0)
        if self.transform is not None:
            img = self.transform(img)
        return img, int(self.labels[i])


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(48 * 9, 96), nn.ReLU(), nn.Linear(96, 10),
        )

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = [(model(x).argmax(1) == y).float() for x, y in loader]
    return torch.cat(hits).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--labelled", type=int, default=700)
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=9)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    digits = load_digits()
    order = np.random.permutation(len(digits.target))
    lab, phone = order[: args.labelled], order[args.labelled :]

    scans = DigitScans(digits.images[lab], digits.target[lab], transform=Jitter())
    n_val = args.labelled // 7
    train_set, val_set = random_split(scans, [args.labelled - n_val, n_val])
    val_set.dataset.transform = Centre()
    photos = DigitScans(digits.images[phone], digits.target[phone], transform=Jitter())

    train = DataLoader(train_set, batch_size=32, shuffle=True)
    val = DataLoader(val_set, batch_size=100)
    test = DataLoader(photos, batch_size=200)
    model = ConvNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        if epoch % 5 == 0:
            print(f"epoch {epoch:3d} loss {total / len(train_set):.4f}  val acc {accuracy(model, val):.3f}")
    print(f"accuracy on phone photos {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
