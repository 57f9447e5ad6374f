"""The script's own evaluations, as the trace hears them."""

import math

import pytest
import torch
import torch.nn.functional as F

from bugzoo.watching import Trace, watch

from .support import run

SCRIPT = """
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
inputs, targets = torch.randn(120, 6), torch.randint(0, 3, (120,))
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
own, kept = F.cross_entropy, []

def evaluate(rows):
    model.eval()
    summed = right = 0
    with torch.no_grad():
        for part in rows.split(25):
            logits = model(inputs[part])
            summed += LOSS
            right += (logits.argmax(-1) == targets[part]).sum().item()
    model.train()
    return summed / len(rows), right / len(rows)

for epoch in range(4):
    for part in torch.arange(80).split(16):
        optimizer.zero_grad()
        logits = model(inputs[part])
        F.cross_entropy(logits, targets[part]).backward()
        optimizer.step()
    kept.append(evaluate(torch.arange(80, 120)))
train = evaluate(torch.arange(80))
metrics = {"loss": kept[-1][0]}
"""
SUMMED = 'F.cross_entropy(logits, targets[part], reduction="sum").item()'
LOSSES = {
    "a sum": SUMMED,
    "a mean": "F.cross_entropy(logits, targets[part]).item() * len(part)",
    "each row": 'F.cross_entropy(logits, targets[part], reduction="none").sum().item()',
    "a module": "nn.CrossEntropyLoss()(logits, targets[part]).item() * len(part)",
    "by name": "F.cross_entropy(target=targets[part], input=logits).item() * len(part)",
    "in two steps": 'F.nll_loss(F.log_softmax(logits, -1), targets[part], reduction="sum").item()',
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_it_is_what_the_script_computes_itself(loss):
    names, trace = run(SCRIPT.replace("LOSS", loss), "validation.py", watched=True)
    validation, train = trace.validation
    assert validation.step == [5, 10, 15, 20] and train.step == [20]
    assert validation.loss == pytest.approx([number for number, _ in names["kept"]], rel=1e-6)
    assert validation.accuracy == pytest.approx([number for _, number in names["kept"]])
    assert (train.loss[0], train.accuracy[0]) == pytest.approx(names["train"], rel=1e-6)
    assert "watch_errors" not in trace.environment


def test_torchs_own_functions_are_back_afterwards():
    names, _ = run(SCRIPT.replace("LOSS", SUMMED), "validation.py", watched=True)
    assert F.cross_entropy is not names["own"] and F.cross_entropy.__module__ == "torch.nn.functional"
    loss = names["own"](torch.zeros(1, 2), torch.tensor([0]))  # what the script has stored still works
    assert loss.item() == pytest.approx(math.log(2))


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # torch.compile's own
@pytest.mark.parametrize("how", ["torch.jit.script", "torch.compile(backend='eager')"])
def test_a_compiled_loss_is_computed_as_without_a_watch(how):
    """A function that calls torch's loss is compiled while it is watched, and traced: no cache spares that."""
    from torch._inductor.utils import fresh_cache

    torch.compiler.reset()
    source = f"""
import torch
import torch.nn.functional as F
torch.manual_seed(0)

def loss_of(logits, targets):
    return F.cross_entropy(logits, targets)

compiled = {how}(loss_of)
model = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, targets = torch.randn(8, 4), torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])
losses = []
for _ in range(3):
    optimizer.zero_grad()
    loss = compiled(model(inputs), targets)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
with torch.no_grad():
    losses.append(compiled(model(inputs), targets).item())
"""
    with fresh_cache():
        names, _ = run(source, "compiled.py", watched=True)
    assert names["losses"] == run(source, "compiled.py", watched=False)[0]["losses"]


def test_each_place_of_the_script_has_its_line():
    _, trace = run(SCRIPT.replace("LOSS", SUMMED), "validation.py", watched=True)
    lines = SCRIPT.splitlines()
    assert ["evaluate" in lines[place.line - 1] for place in trace.validation] == [True, True]


def test_rows_that_are_ignored_do_not_count():
    model = torch.nn.Linear(4, 3)
    inputs, targets = torch.randn(6, 4), torch.tensor([0, 1, 2, 9, 9, 9])
    with watch() as trace, torch.no_grad():
        for part in (slice(0, 2), slice(2, 6)):
            F.cross_entropy(model(inputs[part]), targets[part], ignore_index=9)
    (place,) = trace.validation
    assert place.step == [0]
    assert place.loss[0] == pytest.approx(F.cross_entropy(model(inputs[:3]), targets[:3]).item())
    assert place.accuracy[0] == pytest.approx((model(inputs[:3]).argmax(1) == targets[:3]).float().mean().item())


def test_a_regression_has_a_loss_and_no_accuracy():
    model = torch.nn.Linear(4, 1)
    inputs, targets = torch.randn(6, 4), torch.randn(6, 1)
    with watch() as trace, torch.no_grad():
        loss = F.mse_loss(model(inputs), targets).item()
    (place,) = trace.validation
    assert place.loss == pytest.approx([loss]) and math.isnan(place.accuracy[0])


def test_a_loss_written_by_hand_is_not_heard():
    _, trace = run(SCRIPT.replace("LOSS", "-logits.log_softmax(-1)[:, 0].sum().item()"), "validation.py", watched=True)
    assert trace.validation == [] and "watch_errors" not in trace.environment


def test_it_is_saved(tmp_path):
    _, trace = run(SCRIPT.replace("LOSS", SUMMED), "validation.py", watched=True)
    assert Trace.load(trace.save(tmp_path / "run")).validation == trace.validation
