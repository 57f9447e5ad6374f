"""Mean teacher: the student learns from labels and from a smoothed copy of itself."""
import copy

import torch
from sklearn.datasets import make_moons
from torch import nn


class Cycle:
    def __init__(self, x, y, size):
        self.x, self.y, self.size, self.at = x, y, size, 0

    def __next__(self):
        if self.at + self.size > len(self.x):
            self.at = 0
            p = torch.randperm(len(self.x))
            self.x, self.y = self.x[p], self.y[p]
        s = slice(self.at, self.at + self.size)
        self.at += self.size
        return self.x[s], self.y[s]

    def __iter__(self):
        return self


def main():
    torch.manual_seed(15)
    x, y = make_moons(1400, noise=0.2, random_state=2)
    x, y = torch.tensor(x).float(), torch.tensor(y)
    pupil = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
    tutor = copy.deepcopy(pupil)
    source = Cycle(x[:1000], y[:1000], 50)
    optim = torch.optim.SGD(pupil.parameters(), lr=0.1, momentum=0.5)
    n = 0
    while True:
        n += 1
        xb, yb = next(source)
        own = pupil(xb)
        with torch.no_grad():
            its = tutor(xb + 0.1 * torch.randn_like(xb)).softmax(1)
        supervised = nn.functional.cross_entropy(own, yb)
        consistency = (own.softmax(1) - its).square().mean()
        tutor.zero_grad()
        (supervised + 0.5 * consistency).backward()
        optim.step()
        with torch.no_grad():
            for t, p in zip(tutor.parameters(), pupil.parameters()):
                t.lerp_(p, 0.05)
        if n % 40 == 0:
            acc = (pupil(x[1000:]).argmax(1) == y[1000:]).float().mean().item()
            print(n, supervised.item(), consistency.item(), acc)
        if n >= 240:
            break


main()
