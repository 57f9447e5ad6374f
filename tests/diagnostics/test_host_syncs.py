"""Numbers that are fetched from the CPU for a batch, or to play, keep no device waiting."""

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics import host_syncs
from bugzoo.diagnostics._example import example
from bugzoo.running import run_here

STEP = "optimizer.step()"
CALL = "        logits = model(inputs[rows])\n"
DRAWN = "        lengths = [int(torch.randint(2, 5, (1,))) for _ in range(32)]\n"
PLAYED = "        played = [model(inputs[row : row + 1]).argmax().item() for row in range(12)]\n"


@pytest.mark.parametrize(
    ("edit", "fetched"),
    [
        ((CALL, DRAWN + CALL), 0.0),
        ((CALL, PLAYED + CALL), 12 / 13),
        ((STEP, f"{STEP}, [p.grad.abs().max().item() for p in model.parameters()]"), 4.0),
        (
            (STEP, f"{STEP}, [float(w.mean()) for w in [p.detach() for p in model.parameters()] for _ in range(3)]"),
            12.0,
        ),
    ],
    ids=["a batch that is drawn", "an agent that plays", "gradients", "weights"],
)
def test_only_what_the_model_made_is_counted(edit, fetched):
    reading = diagnostics.read("host_syncs", run_here(example(edit).source))
    assert reading.applies, reading.why_not
    assert reading.numbers["syncs"] == pytest.approx(fetched)
    assert host_syncs.judge(reading.numbers).fired is (fetched > 4.5)
