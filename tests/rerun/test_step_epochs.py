"""Replays that come by the end of an epoch, or by a step that draws its own batch."""

import pytest

from tests.watching.support import run

PERMUTED = """
import torch
x = torch.randn(150, 6)
y = (x.sum(1) > 0).long()
net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
decay = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)
for epoch in range(30):
    order = torch.randperm(150)
    for i in range(3):
        rows = order[50 * i : 50 * i + 50]
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    decay.step()
"""

SHUFFLED = """
import random
import torch
x = torch.randn(60, 4)
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
order = list(range(60))
for epoch in range(20):
    random.shuffle(order)
    for i in range(4):
        rows = order[15 * i : 15 * i + 15]
        loss = (net(x[rows]) - x[rows][:, :1]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""

MIXED = """
import torch
x, y = torch.randn(120, 6), torch.randn(120, 2)
net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(20):
    for rows in torch.randperm(120).split(30):
        share = torch.rand(1)
        other = torch.randperm(len(rows))
        mixed, wanted = share * x[rows] + (1 - share) * x[rows][other], share * y[rows] + (1 - share) * y[rows][other]
        off = (net(mixed) - wanted).square().mean()
        opt.zero_grad()
        off.backward()
        opt.step()
"""

DRAWN = """
import torch
class Fitter:
    def __init__(self):
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.01)
    def step(self):
        wanted = torch.rand(16, 3)
        off = (self.net(wanted + 0.1 * torch.randn(16, 3)) - wanted).square().mean()
        self.opt.zero_grad()
        off.backward()
        self.opt.step()
fitter = Fitter()
for number in range(80):
    fitter.step()
"""

SLOPES = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for number in range(60):
    place = torch.rand(16, 1, requires_grad=True)
    height = net(place)
    slope, = torch.autograd.grad(height.sum(), place, create_graph=True)
    off = (slope + height).square().mean() + (net(torch.zeros(1, 1)) - 1).square().mean()
    opt.zero_grad()
    off.backward()
    opt.step()
"""

SPARSE = """
import torch
table = torch.nn.Embedding(50, 8, sparse=True)
opt = torch.optim.SGD(table.parameters(), lr=0.5)
for number in range(60):
    rows = torch.randint(50, (20,))
    off = (table(rows) - 1).square().mean()
    opt.zero_grad()
    off.backward()
    opt.step()
"""

TWICE = """
import torch
def fit(net, x, y):
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for epoch in range(10):
        for rows in torch.randperm(len(x)).split(20):
            off = (net(x[rows]) - y[rows]).square().mean()
            opt.zero_grad()
            off.backward()
            opt.step()
x = torch.randn(80, 4)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
fit(net, x, x[:, :1])
net[2] = torch.nn.Linear(8, 1)
fit(net, x, x[:, 1:2])
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("source", [PERMUTED, SHUFFLED, MIXED, DRAWN, SLOPES, SPARSE, TWICE], ids=range(7))
def test_the_last_steps_come_out_as_recorded(source):
    _, trace = run(source, "replayed.py", watched=True)
    last = len(trace.step)
    for step in range(last - 4, last + 1):  # the end of at least one epoch among them
        replay = trace.replay(step)
        assert replay.faithful, replay.message
