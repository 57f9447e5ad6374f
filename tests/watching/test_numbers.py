"""The numbers that the watch takes in a quick way are those of the plain one."""

import math

import numpy as np
import pytest
import torch

from bugzoo.watching.forwards import statistics
from bugzoo.watching.table import COLUMNS, Table

from .support import reach, run

torch.manual_seed(0)
NORMAL = torch.randn(24, 40)


def with_one(value: float) -> torch.Tensor:
    changed = NORMAL.clone()
    changed[3, 4] = value
    return changed


OUTPUTS = {
    "normal": NORMAL, "relu": NORMAL.relu(), "capped": NORMAL.relu().clamp(max=1), "sigmoid": (6 * NORMAL).sigmoid(),
    "tanh": (3 * NORMAL).tanh(), "constant": torch.full((5, 7), 0.3), "zeros": torch.zeros(6), "single": torch.ones(1),
    "shifted": NORMAL + 1e4, "large": NORMAL * 1e25, "huge": NORMAL * 1e38, "small": NORMAL * 1e-15,
    "half": NORMAL.half(), "turned": NORMAL.t(), "nan": with_one(math.nan), "inf": with_one(math.inf),
    "all nan": NORMAL * math.nan,
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_statistics_of_an_output(name):
    """Against torch.std_mean and plain comparisons."""
    values = OUTPUTS[name].float()
    std, mean = torch.std_mean(values.double(), correction=0)
    bounded = bool((values.abs() <= 1).all())
    edge = (values.abs() > 0.97) | ((values > 0) & (values < 0.03) & (values.min() >= 0))
    saturated = edge.double().mean().item() if bounded else 0.0
    finite = torch.isfinite(values).double().mean().item()
    found = statistics(OUTPUTS[name])
    if finite == 1:
        assert found[:2] == pytest.approx([mean.item(), std.item()], rel=1e-4, abs=1e-6 * values.abs().max().item())
    else:
        assert math.isnan(found[0]) and math.isnan(found[1])
    assert found[2:] == pytest.approx([(values == 0).double().mean().item(), saturated, 1 - finite], abs=1e-12)


def test_a_table_grows_and_takes_what_is_no_number():
    table = Table()
    early = table.column("loss")
    for step in range(2500):
        table.append((step + 1, *[0.5] * (len(COLUMNS) - 1)))
    table.append((2501, None, *[0.5] * (len(COLUMNS) - 2)))  # as a learning rate may be
    table.put(7, "loss", 3.0)
    assert len(early) == 0
    assert table.column("step").tolist() == list(range(1, 2502))
    loss = table.column("loss")
    assert loss[7] == 3.0 and np.isnan(loss[2500]) and (np.delete(loss, [7, 2500]) == 0.5).all()


LARGE = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(1024, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
record = []
for _ in range(160):
    x = torch.randn(SIZE, 1024)
    for x in (x,):
        opt.zero_grad()
        q = net(x).pow(2).mean()
        q.backward()
        opt.step()
        record.append(q.item())
"""


@pytest.mark.parametrize("size", [8, 128])
def test_batches_of_any_size_leave_the_last_steps_within_reach(size):
    """What may be held back of them ends sooner where they are large: there snapshots are taken more often."""
    names, trace = run(LARGE.replace("SIZE", str(size)), f"large_{size}.py", watched=True)
    first, last = reach(trace)
    assert last == 160 and first < 155
    again = trace.replay(157)
    assert again.faithful and again.loss == names["record"][156]


TWO_WAYS = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Dropout(0.3), torch.nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
record = []
def inner(x):
    return net(x)
def deeper(x):
    return inner(x)
def main():
    for i in range(40):
        x = torch.randn(8, 6)
        opt.zero_grad()
        out = (net, inner, deeper)[i % 3](x)
        q = out.pow(2).mean()
        q.backward()
        opt.step()
        record.append(q.item())
main()
"""


def test_the_loop_is_found_from_wherever_the_model_is_called():
    """Its frame is looked for where it was the last time, and from the beginning where it is not there."""
    names, trace = run(TWO_WAYS, "two_ways.py", watched=True)
    for step in (38, 39, 40):
        again = trace.replay(step)
        assert again.faithful and again.loss == names["record"][step - 1]
