"""Do the weight matrices grow or shrink during training?

Weight decay pulls every weight toward zero, and the gradient of the loss pulls it where the data needs it. Where the decay wins,
the weight matrices shrink within a few epochs and the loss stays high: the model underfits. A model that has memorized its data
may shrink as well, but its loss is low then.
"""

import math
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.conditions import Alarm, above, below, measured
from bugzoo.diagnostics.numbers import ANY, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
VIEW = "weights"
TITLE = "Size of the weights"
KNOWN_PROBLEMS = (
    "A false positive where target noise keeps the loss above half of its start while a suitable weight decay "
    "shrinks the weights. "
    "It misses weights that grow, a single matrix that shrinks, and shrinking weights once the loss has halved."
)
HEALTHY = example()
SICK = example(("lr=1e-2", "lr=1e-2, weight_decay=1.0"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Ratios; the decay is NaN where no optimizer is alive, and the loss where it does not start above 0."""

    shrunk_to: float = number("norm at the end over the start, median of the matrices", (0.6, ANY))
    smallest: float = number("norm at the end over the start, smallest of a matrix")
    weight_decay: float = number("largest weight_decay of a parameter group")
    loss_left: float = number("loss at the end over that at the start")


shrunk = Alarm(
    below("shrunk_to", 0.6) & above("loss_left", 0.5) & (above("weight_decay") | ~measured("weight_decay")),
    "The weights were compared before and after training. They end at {shrunk_to:.2g} of their size, the loss at "
    "{loss_left:.2g} of its first value.",
    "At least {limits[shrunk_to]:g} of the size passes, or at most {limits[loss_left]:g} of the loss.",
)
ALARMS = (shrunk,)


def measure(run: Run) -> Numbers:
    """Ratios of norms between the first and the last sampled step. Raises NotApplicable without two of them."""
    trace = run.trace
    need_steps(run, 8)
    sizes = np.asarray(trace.param_norm, dtype=np.float64)
    matrices = [i for i, p in enumerate(trace.parameters) if len(p.shape) >= 2 and p.trainable and p.group is not None]
    if sizes.ndim != 2 or len(sizes) < 2 or sizes.shape[1] != len(trace.parameters) or not matrices:
        raise NotApplicable("the size of the weights was recorded at fewer than two steps")
    first, last = sizes[0, matrices], sizes[-1, matrices]
    usable = (first > 0) & np.isfinite(first) & np.isfinite(last)
    ratios = last[usable] / first[usable]
    loss = column(trace.loss)
    loss = loss[np.isfinite(loss)]
    if not len(ratios) or len(loss) < 6:
        raise NotApplicable("no weight matrix has a finite size, or too few losses are finite")
    optimizers = getattr(getattr(trace, "live", None), "optimizers", [])
    decays = [group.get("weight_decay", 0.0) for optimizer in optimizers for group in optimizer.param_groups]
    start = float(loss[:3].mean())
    return Numbers(
        shrunk_to=float(np.median(ratios)),
        smallest=float(ratios.min()),
        weight_decay=float(max(decays, default=math.nan)),
        loss_left=float(loss[-max(3, len(loss) // 10) :].mean() / start) if start > 0 else math.nan,
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires when weight decay made the weights small before the loss was small."""
    suspects: tuple[Suspect, ...] = ()
    text = f"weight matrices end at {numbers.shrunk_to:.2g} of their initial size "
    text += f"(usually {Numbers.usual('shrunk_to')})"
    if shrunk(numbers):
        text += f", and the loss at {numbers.loss_left:.2g} of its first value"
        text += f"; weight decay is {numbers.weight_decay:.3g}" if numbers.weight_decay > 0 else ""
        suspects = (Suspect("optimizer/weight_decay_too_strong", 0.85, text),)
    return Verdict("weight_size", bool(suspects), text, numbers.labeled(), suspects)
