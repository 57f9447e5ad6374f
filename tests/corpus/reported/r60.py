"""Digits classifier trained with a small config-driven loop."""
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    epochs: int = 6
    lr: float = 0.05
    loader: dict = field(default_factory=lambda: {"batch_size": 24})
    seed: int = 11


class FolderLikeDigits(Dataset):
    """Mimics an image folder: samples are listed folder by folder."""

    def __init__(self, split):
        images, labels = load_digits(return_X_y=True)
        rng = np.random.default_rng(0)
        part = rng.random(len(labels)) < 0.8
        part = part if split == "train" else ~part
        images, labels = images[part], labels[part]
        self.samples = []
        for folder in range(10):
            for img in images[labels == folder]:
                self.samples.append((img.reshape(1, 8, 8) / 16.0, folder))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        img, target = self.samples[i]
        return torch.tensor(img, dtype=torch.float32), target


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 12, 3, padding=1)
        self.fc1 = nn.Linear(12 * 16, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def main(cfg: Config):
    torch.manual_seed(cfg.seed)
    train = DataLoader(FolderLikeDigits("train"), **cfg.loader)
    valid = DataLoader(FolderLikeDigits("valid"), batch_size=200)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=0.9)
    for epoch in range(cfg.epochs):
        net.train()
        total = 0.0
        for x, y in train:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            correct = sum((net(x).argmax(1) == y).sum().item() for x, y in valid)
        print(f"epoch {epoch}: train {total / len(train):.3f} top1 {correct / len(valid.dataset):.3f}")


if __name__ == "__main__":
    main(Config())
