import os
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = int(os.environ.get("SEED", "0"))


class Net(nn.Module):
    def __init__(self, n_out, width=16, code=48):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(2 * width, 4 * width, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(1),
            nn.Flatten(), nn.Linear(4 * width, code), nn.ReLU(),
        )
        self.head = nn.Linear(code, n_out)

    def init_weights(self):
        for m in self.modules():
            if isinstance(m, (nn.Linear, nn.Conv2d)):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.head(self.encoder(x))


class Runner:
    def __init__(self, model, lr, weight_decay=0.0, init=True):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        if init:
            self.model.init_weights()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=weight_decay)

    def fit(self, x, y, epochs, batch_size, tag, every):
        loader = DataLoader(TensorDataset(x, y), batch_size=batch_size, shuffle=True)
        for epoch in range(1, epochs + 1):
            self.model.train()
            total = 0.0
            for xb, yb in loader:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(xb), yb)
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(xb)
            if epoch % every == 0:
                print(f"{tag:9s} epoch {epoch:3d} loss {total / len(x):.4f}")

    @torch.no_grad()
    def accuracy(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()


def place(images, rng, size=16):
    canvas = torch.zeros(len(images), 1, size, size)
    for k, img in enumerate(images):
        top, left = rng.integers(0, size - 7, size=2)
        canvas[k, 0, top:top + 8, left:left + 8] = img
    return canvas


def pick_few(labels, pool, per_class, rng):
    chosen = [rng.choice(pool[labels[pool] == c], size=per_class, replace=False) for c in range(10)]
    return np.concatenate(chosen)


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    digits = load_digits()
    x = place(torch.tensor(digits.images / 16.0, dtype=torch.float32), rng)
    y = torch.tensor(digits.target)
    order = rng.permutation(len(y))
    base, pool, test = order[:1000], order[1000:1200], order[1200:]

    net = Net(n_out=10)
    runner = Runner(net, lr=2e-3)
    runner.fit(x[base], y[base], epochs=24, batch_size=32, tag="pretrain", every=6)
    print(f"pretrained ten-class accuracy {runner.accuracy(x[test], y[test]):.4f}")

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "encoder.pt")
        torch.save(net.encoder.state_dict(), path)
        model = Net(n_out=10)
        model.encoder.load_state_dict(torch.load(path))
        print("encoder weights loaded")

    few = pick_few(digits.target, pool, 6, rng)
    scans = 0.7 * x + 0.1 + 0.05 * torch.randn(x.shape)
    runner = Runner(model, lr=5e-4, weight_decay=1e-4)
    runner.fit(scans[few], y[few], epochs=60, batch_size=10, tag="finetune", every=15)

    train_acc = runner.accuracy(scans[few], y[few])
    test_acc = runner.accuracy(scans[test], y[test])
    print(f"scanner train_acc={train_acc:.4f} test_acc={test_acc:.4f}")


if __name__ == "__main__":
    main()
