"""The same swaps fit scripts that bugzoo has never seen: other names, other layouts."""

import ast

import pytest

import bugzoo.faults as faults
from bugzoo.errors import UserError
from bugzoo.injection import inject
from tests.corpus import ROOT
from tests.sampling import only_in_prove

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
    ("loss/double_softmax", "FUNCTIONS"): ("objective = loss_fn(out.softmax(dim=-1), yb)",),
    ("loss/double_softmax", "TRAINER"): ('cost = self.criterion(prediction.softmax(dim=-1), batch["y"])',),
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
    with pytest.raises(UserError, match=r"the code that it changes is missing. Looked for: a call of an optimizer's"):
        inject("print('hello')\n", [(faults.load("loop/stale_gradients"), {})], "hello.py")


LAYOUTS = {
    "criterion made and called at once": (
        "loss/double_softmax", "loss = nn.CrossEntropyLoss()(out, y)", "nn.CrossEntropyLoss()(out.softmax(dim=-1), y)"),
    "criterion of two calls, divided": (
        "loss/double_softmax", "crit = nn.CrossEntropyLoss()\n(crit(net(x), y) / 4).backward()",
        "(crit(net(x).softmax(dim=-1), y) / 4).backward()"),
    "functional, never assigned": (
        "loss/double_softmax", "nn.functional.cross_entropy(f(m, x[i]), y[i]).backward()",
        "cross_entropy(nn.functional.softmax(f(m, x[i]), dim=-1), y[i]).backward()"),
    "criterion in __init__, returned": (
        "loss/double_softmax",
        "class T:\n  def __init__(self):\n    self.c = nn.CrossEntropyLoss()\n"
        "  def f(self, x, y):\n    return self.c(self.net(x), y)",
        "return self.c(self.net(x).softmax(dim=-1), y)"),
    "optimiser without a rate": (
        "freezing/frozen_layers", "opt = optim.Adam(net.parameters())", "+for parameter in list(net.parameters())[:-2]:"),
    "optimiser made inside a call": (
        "freezing/frozen_layers", "eng = Engine(net, torch.optim.SGD(net.parameters(), lr=0.1), 5)",
        "+for parameter in list(net.parameters())[:-2]:"),
    "optimiser of a filter": (
        "freezing/frozen_layers", "o = optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=1)",
        "+for parameter in list(net.parameters())[:-2]:"),
    "three statements on a line": (
        "loop/stale_gradients", "opt.zero_grad(); loss.backward(); opt.step()", "+pass; loss.backward(); opt.step()"),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_that_people_use(layout):
    from bugzoo.scenario import break_source

    fault, line, expected = LAYOUTS[layout]
    source = f"import torch\nfrom torch import nn, optim\n# a comment   \n\n\n{line}  # and why\n"
    injection = break_source(source, [fault])
    from bugzoo.injection import diff

    assert expected in diff(source, injection.broken)
    assert injection.broken.startswith("import torch\nfrom torch import nn, optim\n# a comment   \n\n\n")
    assert injection.undo(injection.broken) == source


def test_a_fault_that_does_not_fit_says_what_would():
    from bugzoo.scenario import break_source

    with pytest.raises(UserError, match="Looked for: a cross-entropy of logits and targets") as error:
        break_source("import torch\n", ["loss/double_softmax"], "own.py")
    assert "F.cross_entropy(...)" in str(error.value) and "$" not in str(error.value)


SHOWN = [
    ("loader_workers", "loop/stale_gradients", None), ("simclr", "loop/stale_gradients", 41),
    ("finetune_unfreeze", "loss/double_softmax", None), ("ema_amp_engine", "loss/double_softmax", None),
    ("transformer_encoder", "loss/double_softmax", None), ("nanogpt", "freezing/frozen_layers", None),
    only_in_prove("ema_amp_engine", "freezing/frozen_layers", None), ("gru_tagger", "freezing/frozen_layers", None),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.sampled(0)
@pytest.mark.parametrize(("script", "fault", "at"), SHOWN)
def test_what_break_makes_runs_and_shows_to_checkup(tmp_path, script, fault, at):
    from bugzoo.diagnostics.checkup import checkup
    from bugzoo.scenario import break_source

    source = (ROOT / "scripts" / f"{script}.py").read_text(encoding="utf-8")
    path = tmp_path / "train.py"
    path.write_text(break_source(source, [fault], script, at).broken, encoding="utf-8")
    report = checkup(path, most_reruns=0)
    assert report.run_outcome == "finished" and report.suspects[0].cause == fault, str(report)


@pytest.mark.parametrize(
    "clearing",
    ["p.grad = None", "p.grad.zero_()", "if p.grad is not None:\n            p.grad.zero_()"],
)
def test_gradients_cleared_one_by_one(clearing):
    by_hand = f"    for p in net.parameters():\n        {clearing}\n"
    source = f"for x in data:\n    loss = net(x).mean()\n{by_hand}    loss.backward()\n    opt.step()\n"
    injection = inject(source, [(faults.load("loop/stale_gradients"), {})], "by_hand.py")
    assert injection.broken == source.replace(by_hand, "")


MOST = {"optimizer/lr_too_high": 40, "loop/stale_gradients": 38, "freezing/frozen_layers": 36}
"""Faults that fit most scripts -> how many at least."""


@pytest.mark.parametrize(("fault_id", "share"), [(name, 1 if name in MOST else 4) for name in faults.catalogue()])
def test_a_script_of_somebody_else_is_broken_or_refused_in_words(fault_id, share):
    """Never a traceback: `$$$REST` behind a keyword was read as Python once."""
    into_each(fault_id, share)


@pytest.mark.sampled(0)
@pytest.mark.parametrize("fault_id", faults.catalogue())
def test_all_scripts_of_somebody_else_are_broken_or_refused_in_words(fault_id):
    into_each(fault_id, 1)


def into_each(fault_id, share):
    """Break every `share`-th script; with which one it begins depends on the fault."""
    fault, taken = faults.load(fault_id), 0
    params = {name: param.default for name, param in fault.params.items()}
    for path in sorted((ROOT / "scripts").glob("*.py"))[len(fault_id) % share :: share]:
        source = path.read_text(encoding="utf-8")
        try:
            injection = inject(source, [(fault, params)], path.name)
        except UserError as error:
            message = str(error)
            assert "Looked for: " in message or "--at LINE" in message, message
            continue
        compile(injection.broken, path.name, "exec")
        assert injection.undo(injection.broken) == source
        taken += 1
    assert taken >= MOST.get(fault_id, 0)


def test_a_rate_is_given_to_an_optimiser_that_has_none_and_never_twice():
    from bugzoo.scenario import break_source

    injection = break_source("opt = torch.optim.Adam(net.parameters())\n", ["optimizer/lr_too_high"])
    assert injection.broken == "opt = torch.optim.Adam(net.parameters(), lr=0.3)\n"
    two = "a = torch.optim.SGD(g.parameters(), lr=0.1)\nb = torch.optim.SGD(d.parameters(), lr=0.1)\n"
    with pytest.raises(UserError, match="fits 2 places"):
        break_source(two, ["optimizer/lr_too_high"])
