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
