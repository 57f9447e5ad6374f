import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = int(os.environ.get("SEED", 0))
CHANNELS = 1024
SUBSTANCES = 8


def synth_spectra(n, rng, lines):
    grid = np.arange(CHANNELS)
    spectra = np.empty((n, CHANNELS), dtype=np.float32)
    labels = rng.integers(0, SUBSTANCES, size=n)
    for row, c in enumerate(labels):
        signal = np.zeros(CHANNELS)
        shift = rng.normal(0, 2.0)
        for centre, width, height in lines[c]:
            h = height * rng.uniform(0.5, 1.5)
            signal += h * np.exp(-0.5 * ((grid - centre - shift) / width) ** 2)
        baseline = rng.uniform(0, 1) * np.sin(grid / CHANNELS * rng.uniform(1, 4) + rng.uniform(0, 6))
        spectra[row] = signal + baseline + rng.normal(0, 1.0, CHANNELS)
    return spectra, labels


class Affine(nn.Module):
    def __init__(self, n_in, n_out, nonlinearity):
        super().__init__()
        self.w = nn.Parameter(torch.empty(n_in, n_out))
        self.b = nn.Parameter(torch.zeros(n_out))
        nn.init.kaiming_uniform_(self.w.T, mode="fan_in", nonlinearity=nonlinearity)

    def forward(self, x):
        return x @ self.w + self.b


class Pyramid(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        pairs = list(zip(sizes[:-1], sizes[1:]))
        self.hidden = nn.ModuleList([Affine(a, b, "tanh") for a, b in pairs[:-1]])
        self.out = Affine(*pairs[-1], "linear")

    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.out(x)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def run(epochs=70, batch=50, lr=0.01):
    rng = np.random.default_rng(SEED)
    torch.manual_seed(SEED)
    lines = [
        [(rng.uniform(60, CHANNELS - 60), rng.uniform(4, 9), rng.uniform(0.9, 1.6)) for _ in range(5)]
        for _ in range(SUBSTANCES)
    ]
    x_train, y_train = synth_spectra(1500, rng, lines)
    x_test, y_test = synth_spectra(600, rng, lines)
    mean, std = x_train.mean(0), x_train.std(0)
    x_train = torch.from_numpy((x_train - mean) / std)
    x_test = torch.from_numpy((x_test - mean) / std)
    y_train, y_test = torch.from_numpy(y_train), torch.from_numpy(y_test)

    model = Pyramid([CHANNELS, 128, 32, 16, SUBSTANCES])
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
    n = len(y_train)
    for epoch in range(1, epochs + 1):
        model.train()
        order = torch.randperm(n)
        total = 0.0
        for i in range(0, n, batch):
            pick = order[i:i + batch]
            loss = F.cross_entropy(model(x_train[pick]), y_train[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(pick)
        if epoch == 1 or epoch % 10 == 0:
            test_loss, test_acc = evaluate(model, x_test, y_test)
            print(f"epoch {epoch:3d}  train {total / n:.4f}  test {test_loss:.4f}  acc {test_acc:.4f}")
    return test_loss, test_acc


if __name__ == "__main__":
    loss, acc = run()
    print(f"test loss {loss:.4f}, test accuracy {acc:.4f}")
