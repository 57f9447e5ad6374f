"""Digits: train a ten-class model, then add a second head for odd/even on scans from another device."""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

seed = int(os.environ.get("SEED", "0"))


class TwoHeadNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.Flatten(),
        )
        self.digit_head = nn.Linear(256, 10)
        self.parity_head = nn.Sequential(nn.Dropout(0.2), nn.Linear(256, 64), nn.ReLU(),
                                         nn.Linear(64, 2))

    def forward(self, x, task):
        h = self.trunk(x)
        return self.digit_head(h) if task == "digit" else self.parity_head(h)


def freeze(module):
    for p in module.parameters():
        p.requires_grad_(False)
    for m in module.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.eval()


def accuracy(net, x, y, task):
    net.eval()
    with torch.no_grad():
        return (net(x, task).argmax(1) == y).float().mean().item()


def batches(n, size, generator):
    perm = torch.randperm(n, generator=generator)
    for i in range(0, n - size + 1, size):
        yield perm[i:i + size]


def run_epochs(net, x, y, task, optimizer, epochs, generator):
    for epoch in range(epochs):
        net.train()
        total = 0.0
        count = 0
        for idx in batches(len(x), 64, generator):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x[idx], task), y[idx])
            loss.backward()
            optimizer.step()
            total += loss.item()
            count += 1
        if (epoch + 1) % 4 == 0:
            print(f"  {task:6s} epoch {epoch + 1:2d} loss {total / count:.4f}")


def make_data():
    d = load_digits()
    rng = np.random.RandomState(seed)
    perm = rng.permutation(len(d.target))
    x = torch.tensor(d.images[perm] / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(d.target[perm])
    scans = 0.35 * x + 0.65 + 0.05 * torch.tensor(rng.randn(*x.shape), dtype=torch.float32)
    return x, scans, y


def main():
    torch.manual_seed(seed)
    gen = torch.Generator().manual_seed(seed)
    x, scans, y = make_data()
    n = 1200
    net = TwoHeadNet()

    print("stage 1: ten classes")
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    run_epochs(net, x[:n], y[:n], "digit", opt, 16, gen)
    first = accuracy(net, x[n:], y[n:], "digit")
    print(f"digit accuracy after stage 1: {first:.4f}")

    print("stage 2: odd/even on the new scans")
    freeze(net.trunk)
    freeze(net.digit_head)
    opt = torch.optim.Adam(net.parity_head.parameters(), lr=1e-3)
    run_epochs(net, scans[:n], (y[:n] % 2), "parity", opt, 24, gen)

    digit_acc = accuracy(net, x[n:], y[n:], "digit")
    parity_acc = accuracy(net, scans[n:], y[n:] % 2, "parity")
    frozen = sum(p.numel() for p in net.parameters() if not p.requires_grad)
    print(f"frozen parameters: {frozen}")
    print(f"digit_acc_stage1={first:.4f} digit_acc_final={digit_acc:.4f} parity_acc={parity_acc:.4f}")


if __name__ == "__main__":
    main()
