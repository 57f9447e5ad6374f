"""The same swaps fit scripts that bugzoo has never seen: other names, other layouts."""

import ast

import pytest

import bugzoo.faults as faults
from bugzoo.errors import UserError
from bugzoo.injection import inject

FUNCTIONS = """\
import torch
from torch import nn, optim


def train_one_epoch(net, batches, opt, loss_fn):
    for xb, yb in batches:
        opt.zero_grad(set_to_none=True)
        out = net(xb)
        objective = loss_fn(out, yb)
        objective.backward()
        opt.step()


def main():
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    loss_fn = nn.CrossEntropyLoss()
    opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    data = [(torch.randn(8, 4), torch.randint(3, (8,))) for _ in range(20)]
    train_one_epoch(net, data, opt, loss_fn)


if __name__ == "__main__":
    main()
"""

TRAINER = """\
import torch


class Trainer:
    def __init__(self, network):
        self.network = network
        self.optim = torch.optim.AdamW(self.network.parameters(), lr=3e-4, weight_decay=0.1)
        self.criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)

    def fit(self, batches):
        for batch in batches:
            prediction = self.network(batch["x"])
            cost = self.criterion(prediction, batch["y"])
            self.optim.zero_grad()
            cost.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optim.step()
"""

FLAT = """\
import torch as t
import torch.nn.functional as F
from torch.optim import Adam

m = t.nn.Linear(4, 3)
o = Adam(m.parameters(), 1e-3)
while True:
    x, y = t.randn(8, 4), t.randint(3, (8,))
    m.zero_grad()
    F.cross_entropy(m(x), y).backward()
    o.step()
    break
"""

EXPECTED = {
    ("loop/stale_gradients", "FUNCTIONS"): ("-        opt.zero_grad(set_to_none=True)",),
    ("loop/stale_gradients", "TRAINER"): ("-            self.optim.zero_grad()",),
    ("loop/stale_gradients", "FLAT"): ("-    m.zero_grad()",),
    ("loss/double_softmax", "FUNCTIONS"): ("objective = loss_fn(torch.softmax(out, dim=-1), yb)",),
    ("loss/double_softmax", "TRAINER"): ('cost = self.criterion(torch.softmax(prediction, dim=-1), batch["y"])',),
    ("loss/double_softmax", "FLAT"): ("+    F.cross_entropy(F.softmax(m(x), dim=-1), y).backward()",),
    ("freezing/frozen_layers", "FUNCTIONS"): (
        "+    for parameter in list(net.parameters())[:-2]:",
        "requires_grad = False",
    ),
    ("freezing/frozen_layers", "TRAINER"): ("+        for parameter in list(self.network.parameters())[:-2]:",),
    ("freezing/frozen_layers", "FLAT"): ("+for parameter in list(m.parameters())[:-2]:",),
}


@pytest.mark.parametrize(("fault_id", "script"), EXPECTED)
def test_fault_fits_a_script_in_another_style(fault_id, script):
    from bugzoo.injection import diff

    source = globals()[script]
    fault = faults.load(fault_id)
    params = {name: param.default for name, param in fault.params.items()}
    injection = inject(source, [(fault, params)], script)
    ast.parse(injection.broken)
    changes = diff(source, injection.broken)
    for part in EXPECTED[fault_id, script]:
        assert part in changes, changes
    assert injection.undo(injection.broken) == source


@pytest.mark.parametrize("script", ["FUNCTIONS", "FLAT"])
@pytest.mark.parametrize("fault_id", ["loop/stale_gradients", "loss/double_softmax", "freezing/frozen_layers"])
def test_broken_foreign_scripts_still_run(fault_id, script):
    fault = faults.load(fault_id)
    params = {name: param.default for name, param in fault.params.items()}
    source = inject(globals()[script], [(fault, params)], script).broken
    if script == "FLAT" and fault_id == "freezing/frozen_layers":
        params = {"keep": 1}  # a single layer: keep its bias
        source = inject(globals()[script], [(fault, params)], script).broken
    exec(compile(source, script, "exec"), {"__name__": "__main__"})


def test_two_optimisers_are_listed_and_a_line_chooses():
    source = FLAT.replace("    m.zero_grad()\n", "    m.zero_grad()\n    g.zero_grad()\n")
    source = source.replace(
        "m = t.nn.Linear(4, 3)\n", "m = t.nn.Linear(4, 3)\ng = t.nn.Linear(4, 3)\nq = Adam(g.parameters(), 1e-3)\n"
    )
    fault = faults.load("loop/stale_gradients")
    with pytest.raises(UserError, match=r"line \d+: m.zero_grad\(\)\n  line \d+: g.zero_grad\(\)"):
        inject(source, [(fault, {})])
    line = source[: source.index("    g.zero_grad()")].count("\n") + 1
    broken = inject(source, [(fault, {})], at=line).broken
    assert "m.zero_grad()" in broken and "g.zero_grad()" not in broken


def test_a_script_without_a_training_loop_is_refused_with_the_pattern():
    with pytest.raises(UserError, match="matches 0 places, 1 is needed"):
        inject("print('hello')\n", [(faults.load("loop/stale_gradients"), {})], "hello.py")
