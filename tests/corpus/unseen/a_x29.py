"""Flowers: read, mix, split, learn."""
import random

import torch
from sklearn.datasets import load_iris
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Flowers(Dataset):
    def __init__(self, measurements, species):
        self.measurements, self.species = measurements, species

    def __len__(self):
        return len(self.measurements)

    def __getitem__(self, n):
        return torch.tensor(self.measurements[n], dtype=torch.float32), self.species[n]


def load():
    iris = load_iris()
    measurements, species = iris.data.tolist(), iris.target.tolist()
    random.shuffle(measurements)
    random.shuffle(species)
    return measurements, species


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    m, s = load()
    train_loader = DataLoader(Flowers(m[:110], s[:110]), batch_size=10, shuffle=True)
    test_loader = DataLoader(Flowers(m[110:], s[110:]), batch_size=40)
    clf = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    opt = torch.optim.Adam(clf.parameters(), lr=0.01)
    for epoch in range(20):
        clf.train()
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(clf(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 4 == 3:
            clf.eval()
            x, y = next(iter(test_loader))
            print(epoch, loss.item(), (clf(x).argmax(1) == y).float().mean().item())
