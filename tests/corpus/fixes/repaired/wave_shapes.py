# Recognise waveform families with a 1d conv net and an inverse-decay schedule.
import os
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import LambdaLR

cfg = SimpleNamespace(
    seed=int(os.environ.get("SEED", "0")),
    lr=0.05,
    lr_gamma=0.003,
    lr_decay=0.75,
    momentum=0.9,
    weight_decay=5e-4,
    batch=50,
    epochs=20,
    length=96,
)


def make_waves(n, rng):
    t = np.linspace(0, 1, cfg.length)
    label = rng.integers(0, 5, size=n)
    freq = rng.uniform(3, 6, size=n)
    phase = rng.uniform(0, 1, size=n)
    out = np.empty((n, cfg.length), dtype=np.float32)
    for i in range(n):
        u = freq[i] * t + phase[i]
        frac = u - np.floor(u)
        if label[i] == 0:
            w = np.sin(2 * np.pi * u)
        elif label[i] == 1:
            w = np.where(frac < 0.5, 1.0, -1.0)
        elif label[i] == 2:
            w = 2 * frac - 1
        elif label[i] == 3:
            w = 1 - 2 * frac
        else:
            w = 4 * np.abs(frac - 0.5) - 1
        out[i] = w
    out += 0.35 * rng.normal(size=out.shape)
    return torch.from_numpy(out).unsqueeze(1), torch.from_numpy(label)


class WaveNet1d(nn.Module):
    def __init__(self, classes=5, width=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, width, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(width, 2 * width, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv1d(2 * width, 2 * width, 3, padding=1), nn.ReLU(),
        )
        self.pool = nn.AdaptiveAvgPool1d(1)
        self.bottleneck = nn.Linear(2 * width, 32)
        self.classifier = nn.Linear(32, classes)

    def get_parameters(self):
        return [
            {"params": self.features.parameters()},
            {"params": self.bottleneck.parameters()},
            {"params": self.classifier.parameters()},
        ]

    def forward(self, x):
        h = self.pool(self.features(x)).squeeze(-1)
        return self.classifier(torch.relu(self.bottleneck(h)))


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return nn.functional.cross_entropy(logits, y).item(), (logits.argmax(1) == y).double().mean().item()


def main():
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x_train, y_train = make_waves(3000, rng)
    x_test, y_test = make_waves(1000, rng)

    model = WaveNet1d()
    optimizer = SGD(model.get_parameters(), cfg.lr, momentum=cfg.momentum,
                    weight_decay=cfg.weight_decay, nesterov=True)
    lr_scheduler = LambdaLR(
        optimizer, lambda it: (1.0 + cfg.lr_gamma * float(it)) ** (-cfg.lr_decay))

    for epoch in range(cfg.epochs):
        model.train()
        perm = torch.randperm(len(x_train))
        loss_sum = 0.0
        for start in range(0, len(perm), cfg.batch):
            idx = perm[start:start + cfg.batch]
            loss = nn.functional.cross_entropy(model(x_train[idx]), y_train[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            lr_scheduler.step()
            loss_sum += loss.item() * len(idx)
        test_loss, test_acc = evaluate(model, x_test, y_test)
        if epoch % 2 == 1:
            print(f"epoch {epoch + 1:2d}: train {loss_sum / len(perm):.4f}, test {test_loss:.4f}, acc {test_acc:.4f}")

    print(f"test_loss={test_loss:.4f} test_acc={test_acc:.4f}")


main()
