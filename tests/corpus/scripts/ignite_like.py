"""Callbacks and a generic Trainer that gets a closure; optimiser built by name; model by factory; loss scaled by accumulation."""

import functools

import torch
from sklearn.datasets import load_iris
from torch import nn

REGISTRY = {"sgd": functools.partial(torch.optim.SGD, momentum=0.9), "adam": torch.optim.Adam}


class Callback:
    def on_batch_end(self, trainer, value): ...
    def on_epoch_end(self, trainer): ...


class Meter(Callback):
    def __init__(self):
        self.values, self.epochs = [], []

    def on_batch_end(self, trainer, value):
        self.values.append(value)

    def on_epoch_end(self, trainer):
        self.epochs.append(sum(self.values) / len(self.values))
        self.values.clear()


class GenericTrainer:
    def __init__(self, module, objective, opt_name="adam", lr=1e-2, accumulate=2, callbacks=()):
        self.module, self.objective, self.accumulate, self.callbacks = module, objective, accumulate, list(callbacks)
        self.engine = REGISTRY[opt_name](module.parameters(), lr=lr)

    def __call__(self, stream, epochs):
        for _ in range(epochs):
            self.engine.zero_grad()
            for k, (features, label) in enumerate(stream()):
                value = self.objective(self.module(features), label) / self.accumulate
                value.backward()
                if (k + 1) % self.accumulate == 0:
                    self.engine.step()
                    self.engine.zero_grad()
                for c in self.callbacks:
                    c.on_batch_end(self, float(value) * self.accumulate)
            for c in self.callbacks:
                c.on_epoch_end(self)


def stream():
    order = torch.randperm(len(F))
    for part in order.split(10):
        yield F[part], C[part]


torch.manual_seed(9)
iris = load_iris()
F = torch.tensor(iris.data, dtype=torch.float32)
F = (F - F.mean(0)) / F.std(0)
C = torch.tensor(iris.target)
meter = Meter()
GenericTrainer(
    nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 3)), nn.CrossEntropyLoss(), "sgd", 0.05, callbacks=[meter]
)(stream, 10)
print(meter.epochs)
