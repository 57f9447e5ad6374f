import pytest

from bugzoo.diagnostics import measure_all
from bugzoo.running import run_here

SOURCE = """
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(320, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
net.train()
for epoch in range(2):
    for rows in torch.arange(320).split(16):
        opt.zero_grad()
        out = nn.functional.cross_entropy(net(x[rows]), y[rows])
        out.backward()
        opt.step()
net.eval()
with torch.no_grad():
    print((net(x).argmax(1) == y).float().mean())
"""


@pytest.fixture(scope="session")
def tiny_run():
    run = run_here(SOURCE, file="tiny.py")
    run.readings = measure_all(run)
    return run
