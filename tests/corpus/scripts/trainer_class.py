"""A Trainer class that keeps everything in itself; label smoothing, dropout, early epochs that look overfitted."""

import torch
from sklearn.datasets import load_wine
from torch import nn


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x):
        return nn.functional.dropout(nn.functional.gelu(self.linear(x)), 0.2, self.training)


class Trainer:
    def __init__(self, network, lr=2e-3, smoothing=0.1):
        self.network = network
        self.opt = torch.optim.AdamW(network.parameters(), lr=lr, weight_decay=0.01)
        self.loss_fn = nn.CrossEntropyLoss(label_smoothing=smoothing)
        self.history = {"train": [], "valid": []}

    def fit(self, train, valid, epochs, bs=16):
        for _ in range(epochs):
            self.network.train()
            order = torch.randperm(len(train[0]))
            for chunk in order.split(bs):
                self._update(train[0][chunk], train[1][chunk])
            self.history["valid"].append(self._validate(*valid))
        return self

    def _update(self, xb, yb):
        scores = self.network(xb)
        cost = self.loss_fn(scores, yb)
        self.opt.zero_grad(set_to_none=True)
        cost.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.opt.step()
        self.history["train"].append(float(cost.detach()))

    def _validate(self, x, y):
        self.network.eval()
        with torch.inference_mode():
            return (self.network(x).argmax(-1) == y).float().mean().item()


torch.manual_seed(11)
bunch = load_wine()
X = torch.tensor(bunch.data, dtype=torch.float32)
Y = torch.tensor(bunch.target)
mix = torch.randperm(len(X))
tr, va = mix[:130], mix[130:]
X = (X - X[tr].mean(0)) / X[tr].std(0)
mlp = nn.Sequential(nn.Linear(13, 64), nn.GELU(), nn.Dropout(0.2), Block(64), nn.Linear(64, 3))
trainer = Trainer(mlp).fit((X[tr], Y[tr]), (X[va], Y[va]), epochs=15)
print("valid", trainer.history["valid"][-1])
