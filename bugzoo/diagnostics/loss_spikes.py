"""Does the loss spike at single steps, far above that of the neighboring steps?

The loss of each step is compared with the median of its neighbors, in units of the median distance. Noise between batches reaches
four or five units. A single step at twenty units, with a loss above that of no learning at all, had data of another kind: look
at its batch. A spike once per epoch is the same batch, or the same sample, each time. Losses that rise and fall together, as
those of an agent that meets something new, are not spikes.
"""

from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
VIEW = "loss_curve"
TITLE = "Single high losses"
KNOWN_PROBLEMS = (
    "A false positive where a large penalty joins the loss at a few steps on purpose, as in lazy regularization. "
    "It misses spikes at neighboring steps and spikes below four times their neighbors, and says nothing below 20 "
    "steps."
)
HEALTHY = example()
SICK = example(
    ("logits = model(inputs[rows])", "logits = model(inputs[rows] * (1000 if epoch == 3 and 7 in rows else 1))")
)
NEIGHBOURS, HIGH, WORSE, ALONE = 5, 20.0, 1.2, 2.0
TIMES = 4.0
"""Loss over its neighbors: a healthy script with a frozen backbone reached 2.8."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Heights in median distances from the neighbors; steps count from 1."""

    height: float = number("highest loss above its neighbors, in median distances")
    step: float = number("step of the loss highest above its neighbors")
    times: float = number("loss highest above its neighbors, over their median")
    spikes: float = number("steps 20 median distances above all others around them", (0, 0))
    steps: float


spike = Alarm(
    above("spikes"),
    "The loss of each step was compared with those around it. At step {step:.0f} it is {times:.3g} times as high.",
    f"Up to {TIMES:.0f} times as high passes.",
)
ALARMS = (spike,)


def measure(run: Run) -> Numbers:
    """Height in median distances, and its step. Raises NotApplicable below 20 steps with a finite loss."""
    need_steps(run, 20)
    every = column(run.trace.loss)
    places = np.flatnonzero(np.isfinite(every))
    if len(places) < 20:
        raise NotApplicable(f"only {len(places)} steps have a finite loss, and 20 are needed")
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
    if high.any() and not high.all():  # where losses vary this much anyway, the upper end is not another kind of data
        high &= loss > ALONE * float(loss[~high].max())
    top = int(np.argmax(np.where(high, heights, 0.0) if high.any() else heights))
    return Numbers(
        height=float(heights[top]),
        step=float(places[top] + 1),
        times=float(ratios[top]),
        spikes=float(high.sum()),
        steps=float(len(every)),
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on a loss 20 median distances above its neighbors, four times as high, and twice as high as all others."""
    text = (
        f"the loss sticks out most at step {numbers.step:.0f}: {numbers.times:.3g} times its neighbors' (usually 1-2)"
    )
    suspects: tuple[Suspect, ...] = ()
    if spike(numbers) and numbers.spikes <= 0.1 * numbers.steps:
        text += f"; {numbers.spikes:.0f} of {numbers.steps:.0f} steps stick out like this: look at their batches"
        suspects = (Suspect("data/corrupt_batch", 0.6, text),)
    return Verdict("loss_spikes", bool(suspects), text, numbers.labeled(), suspects)
