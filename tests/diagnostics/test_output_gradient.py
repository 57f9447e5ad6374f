"""What one step asks of the answers: a sum over a sequence, token by token, is no accumulation that was not scaled."""

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics import output_gradient
from bugzoo.diagnostics._example import example
from bugzoo.running import run_here

LOSS = """\
        logits = model(inputs[rows])
        loss = F.cross_entropy(logits, targets[rows])
        loss.backward()
"""
SUMMED = """\
        loss = sum(F.cross_entropy(model(inputs[part]), targets[part]) for part in rows.split(8))
        loss.backward()
"""
ADDED_UP = """\
        for part in rows.split(8):
            F.cross_entropy(model(inputs[part]), targets[part]).backward()
"""

EPOCH = "    for rows in torch.randperm(256).split(32):\n"
IN_ONE = """\
    def learn(rows):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs[rows]), targets[rows])
        loss.backward()
        optimizer.step()
    parts = [learn(rows) for rows in torch.randperm(256).split(32)]
    for rows in ():
"""


def test_a_body_of_several_steps_is_looked_at_until_its_first():
    reading = diagnostics.read("output_gradient", run_here(example((EPOCH, IN_ONE)).source))
    assert reading.applies, reading.why_not
    assert reading.numbers["weight"] == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize(("loop", "backwards", "fires"), [(SUMMED, 1, False), (ADDED_UP, 4, True)])
def test_only_several_backward_passes_are_micro_batches(loop, backwards, fires):
    reading = diagnostics.read("output_gradient", run_here(example((LOSS, loop)).source))
    assert reading.applies, reading.why_not
    assert reading.numbers["weight"] == pytest.approx(4.0, rel=1e-3)
    assert (reading.numbers["passes"], reading.numbers["backwards"]) == (4, backwards)
    verdict = output_gradient.judge(reading.numbers)
    assert verdict.fired is fires
    assert not fires or verdict.suspects[0].cause == "loop/accumulation_not_scaled"


WORDS = """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
ends = torch.randint(4, 13, (64,))
words = torch.randint(1, 9, (64, 12)).masked_fill(torch.arange(12) >= ends[:, None], 0)
model = nn.Sequential(nn.Embedding(9, 16), nn.Linear(16, 9))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for rows in torch.arange(64).split(16):
    inputs, targets = words[rows, :-1], words[rows, 1:]
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("edits", "fires"),
    [
        ([], False),
        ([("ignore_index=0", "ignore_index=-100")], True),
        ([("model(inputs)", "model(inputs.T)"), ("targets.flatten()", "targets.T.flatten()")], False),
    ],
)
def test_what_stands_behind_the_end_of_a_line_is_not_asked_for(edits, fires):
    """Line by line or time by time."""
    source = WORDS
    for before, after in edits:
        source = source.replace(before, after)
    reading = diagnostics.read("output_gradient", run_here(source))
    assert reading.applies, reading.why_not
    verdict = output_gradient.judge(reading.numbers)
    assert verdict.fired is fires
    assert not fires or verdict.suspects[0].cause == "loss/padding_counted"
