import argparse
import os

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset


class ShiftedDigits(Dataset):
    """8x8 digits pasted at a random place of a 16x16 canvas with random brightness."""

    def __init__(self, images, labels, noise=0.15):
        self.images = torch.tensor(images, dtype=torch.float32) / 16.0
        self.labels = torch.tensor(labels)
        self.noise = noise

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        canvas = torch.zeros(16, 16)
        top, left = torch.randint(0, 9, (2,)).tolist()
        gain = 0.5 + torch.rand(1)
        canvas[top:top + 8, left:left + 8] = self.images[i] * gain
        canvas += self.noise * torch.randn(16, 16)
        return canvas.unsqueeze(0), self.labels[i]


def build_model():
    return nn.Sequential(
        nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
        nn.Conv2d(24, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(48 * 16, 64), nn.ReLU(), nn.Linear(64, 10),
    )


def repeat(loader):
    while True:
        yield from loader


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        pred = model(x).argmax(1)
    model.train()
    return (pred == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--report-every", type=int, default=100)
    parser.add_argument("--per-class", type=int, default=25)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "0")))
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    rng = np.random.RandomState(args.seed)
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    train_idx = np.concatenate(
        [[i for i in order if digits.target[i] == c][:args.per_class] for c in range(10)]
    )
    test_idx = np.setdiff1d(order, train_idx)

    train_set = ShiftedDigits(digits.images[train_idx], digits.target[train_idx])
    test_set = ShiftedDigits(digits.images[test_idx], digits.target[test_idx])
    x_test, y_test = next(iter(DataLoader(test_set, batch_size=len(test_set))))

    loader = DataLoader(train_set, batch_size=25, shuffle=True, drop_last=True)
    stream = repeat(loader)
    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.steps)
    loss_fn = nn.CrossEntropyLoss()

    window = []
    for step in range(1, args.steps + 1):
        x, y = next(stream)
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        window.append(loss.item())
        if step % args.report_every == 0:
            acc = accuracy(model, x_test, y_test)
            print(f"step {step:4d}  loss {np.mean(window):.4f}  test acc {acc:.4f}")
            window.clear()
    print(f"final test accuracy: {acc:.4f}")


if __name__ == "__main__":
    main()
