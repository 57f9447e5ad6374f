from itertools import islice

import torch
from sklearn.datasets import make_classification
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data():
    X, y = make_classification(2000, 20, n_informative=12, n_classes=4, class_sep=1.2, random_state=5)
    return torch.tensor(X, dtype=torch.float32), torch.tensor(y)


def evaluate(net, X, y):
    net.eval()
    with torch.no_grad():
        logits = net(X)
    net.train()
    return nn.functional.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def train(net, loader, n_epochs, val):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss_func = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in range(n_epochs):
        optimizer.zero_grad()
        for xb, yb in islice(loader, 40):
            loss = loss_func(net(xb), yb)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", loss.item(), "val", evaluate(net, *val))


if __name__ == "__main__":
    torch.manual_seed(123)
    X, y = make_data()
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    train(net, DataLoader(TensorDataset(X[:1600], y[:1600]), 40, shuffle=True), 8, (X[1600:], y[1600:]))
