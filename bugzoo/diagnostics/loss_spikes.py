"""Do single batches stick out of the loss?

The loss of each step is held against the median of its neighbours, in units of how far losses usually are from theirs. Noise
from batch to batch reaches four or five. A step at twenty that stands alone and is worse than no learning at all had data of
another kind in it: look at its batch. One that comes back once an epoch is the same batch, or the same sample, each time.
Losses that rise and fall together, as those of an agent that meets something new, are no spikes.
"""

from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "height": ("highest loss above its neighbours, in usual distances", "below 10"),
    "step": ("step of that loss", ""),
    "times": ("loss there, over the median of its neighbours", "1 to 2"),
    "spikes": ("steps that stick out by 20 distances, above all others", "0"),
}
HEALTHY = example()
SICK = example(
    ("logits = model(inputs[rows])", "logits = model(inputs[rows] * (1000 if epoch == 3 and 7 in rows else 1))")
)
NEIGHBOURS, HIGH, WORSE, ALONE = 5, 20.0, 1.2, 2.0
TIMES = 4.0
"""Over its neighbours: a healthy script with a frozen backbone was seen to reach 2.8."""


def measure(run: Run) -> dict[str, Any]:
    """Height in median distances, and the step it is at. Raises NotApplicable below 20 steps whose loss is a number."""
    need_steps(run, 20)
    every = column(run.trace.loss)
    places = np.flatnonzero(np.isfinite(every))
    if len(places) < 20:
        raise NotApplicable(f"the loss is a number at {len(places)} steps only, and 20 are needed")
    loss = every[places]
    padded = np.pad(loss, NEIGHBOURS, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1)
    others = np.delete(windows, NEIGHBOURS, axis=1)
    usual = np.median(others, axis=1)
    away = loss - usual
    heights = away / (float(np.median(np.abs(away))) + 1e-3 * float(np.median(np.abs(loss))) + 1e-12)
    ratios = loss / np.maximum(np.abs(usual), 1e-12)
    high = (heights > HIGH) & (ratios > TIMES) & (loss > WORSE * float(np.median(loss[:3])))
    high &= loss > ALONE * others.max(axis=1)
    if high.any() and not high.all():  # the upper end of losses that vary that much anyway is no other kind of data
        high &= loss > ALONE * float(loss[~high].max())
    top = int(np.argmax(np.where(high, heights, 0.0) if high.any() else heights))
    return {
        "height": float(heights[top]),
        "step": float(places[top] + 1),
        "times": float(ratios[top]),
        "spikes": float(high.sum()),
        "steps": float(len(every)),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on a loss 20 usual distances above, and four times as high as, its neighbours, twice all others."""
    shown = pick(numbers, "height", "step", "times", "spikes")
    text = (
        f"the loss that sticks out most is {numbers['times']:.3g} times its neighbours', at step {numbers['step']:.0f}"
    )
    if not 0 < numbers["spikes"] <= 0.1 * numbers["steps"]:
        return Verdict("loss_spikes", False, text, shown)
    text += f"; {numbers['spikes']:.0f} of {numbers['steps']:.0f} steps stand out like that: look at their batches"
    return Verdict("loss_spikes", True, text, shown, (Suspect("data/corrupt_batch", 0.6, text),))
