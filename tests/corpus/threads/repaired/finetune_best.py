"""Small digit classifier, trained on few and partly mislabelled scans.

Returns the model of the epoch with the best validation accuracy.
"""
import time

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

SEED = 1
NUM_EPOCHS = 60
N_TRAIN, N_VAL = 400, 500
MISLABELLED = 0.35


def make_loaders():
    rng = np.random.default_rng(SEED)
    data = load_digits()
    order = rng.permutation(len(data.target))
    x = torch.tensor(data.data[order] / 16.0, dtype=torch.float32)
    y = torch.tensor(data.target[order])
    parts = {
        "train": (x[:N_TRAIN], y[:N_TRAIN].clone()),
        "val": (x[N_TRAIN:N_TRAIN + N_VAL], y[N_TRAIN:N_TRAIN + N_VAL]),
        "test": (x[N_TRAIN + N_VAL:], y[N_TRAIN + N_VAL:]),
    }
    wrong = torch.tensor(rng.random(N_TRAIN) < MISLABELLED)
    parts["train"][1][wrong] = torch.tensor(rng.integers(0, 10, int(wrong.sum())))
    return {k: DataLoader(TensorDataset(*v), batch_size=32, shuffle=(k == "train")) for k, v in parts.items()}


def run_epoch(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    loss_sum, hits = 0.0, 0
    for inputs, labels in loader:
        with torch.set_grad_enabled(optimizer is not None):
            outputs = model(inputs)
            loss = criterion(outputs, labels)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        loss_sum += loss.item() * len(labels)
        hits += (outputs.argmax(1) == labels).sum().item()
    n = len(loader.dataset)
    return loss_sum / n, hits / n


def train_model(model, loaders, criterion, optimizer, num_epochs):
    since = time.time()
    best_acc, best_epoch = 0.0, -1
    best_state = model.state_dict()
    for epoch in range(num_epochs):
        train_loss, train_acc = run_epoch(model, loaders["train"], criterion, optimizer)
        val_loss, val_acc = run_epoch(model, loaders["val"], criterion)
        if val_acc > best_acc:
            best_acc, best_epoch = val_acc, epoch
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        if epoch % 5 == 0 or epoch == num_epochs - 1:
            print(f"[{epoch:02d}] train {train_loss:.3f}/{train_acc:.3f}  val {val_loss:.3f}/{val_acc:.3f}")
    print(f"done in {time.time() - since:.1f}s, best val acc {best_acc:.3f} in epoch {best_epoch}")
    model.load_state_dict(best_state)
    return model


def main():
    torch.manual_seed(SEED)
    loaders = make_loaders()
    model = nn.Sequential(
        nn.Linear(64, 256), nn.ReLU(),
        nn.Linear(256, 256), nn.ReLU(),
        nn.Linear(256, 10),
    )
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model = train_model(model, loaders, criterion, optimizer, NUM_EPOCHS)
    test_loss, test_acc = run_epoch(model, loaders["test"], criterion)
    print(f"best model on test: loss {test_loss:.3f} acc {test_acc:.3f}")


if __name__ == "__main__":
    main()
