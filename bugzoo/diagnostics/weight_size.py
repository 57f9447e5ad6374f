"""Do the weight matrices grow or shrink during training?

Weight decay pulls every weight toward zero, and the gradient of the loss pulls it where the data needs it. Where the decay wins,
the weight matrices shrink within a few epochs and the loss stays high: the model underfits. A model that has memorized its data
may shrink as well, but its loss is low then.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "shrunk_to": ("norm at the end over the start, median of the matrices", "from 0.6"),
    "smallest": ("norm at the end over the start, smallest of a matrix", ""),
    "loss_left": ("loss at the end over that at the start", ""),
}
KNOWN_PROBLEMS = (
    "A false positive where target noise keeps the loss above half of its start while a suitable weight decay "
    "shrinks the weights. "
    "It misses weights that grow, a single matrix that shrinks, and shrinking weights once the loss has halved."
)
HEALTHY = example()
SICK = example(("lr=1e-2", "lr=1e-2, weight_decay=1.0"))


def measure(run: Run) -> dict[str, Any]:
    """Ratios of norms between the first and the last sampled step. Raises NotApplicable without two of them."""
    trace = run.trace
    need_steps(run, 8)
    sizes = np.asarray(trace.param_norm, dtype=np.float64)
    matrices = [i for i, p in enumerate(trace.parameters) if len(p.shape) >= 2 and p.trainable and p.group is not None]
    if sizes.ndim != 2 or len(sizes) < 2 or sizes.shape[1] != len(trace.parameters) or not matrices:
        raise NotApplicable("the size of the weights was recorded at fewer than two steps")
    first, last = sizes[0, matrices], sizes[-1, matrices]
    known = (first > 0) & np.isfinite(first) & np.isfinite(last)
    ratios = last[known] / first[known]
    loss = column(trace.loss)
    loss = loss[np.isfinite(loss)]
    if not len(ratios) or len(loss) < 6:
        raise NotApplicable("no weight matrix has a finite size, or too few losses are finite")
    optimizers = getattr(getattr(trace, "live", None), "optimizers", [])
    decays = [group.get("weight_decay", 0.0) for one in optimizers for group in one.param_groups]
    start = float(loss[:3].mean())
    return {
        "shrunk_to": float(np.median(ratios)),
        "smallest": float(ratios.min()),
        "weight_decay": float(max(decays, default=math.nan)),
        "loss_left": float(loss[-max(3, len(loss) // 10) :].mean() / start) if start > 0 else math.nan,
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when weight decay made the weights small before the loss was small."""
    shown = pick(numbers, "shrunk_to", "smallest", "loss_left")
    text = f"weight matrices end at {numbers['shrunk_to']:.2g} of their initial size (usually about 1)"
    if numbers["shrunk_to"] < 0.6 and numbers["loss_left"] > 0.5 and not numbers["weight_decay"] == 0:
        text += f", and the loss at {numbers['loss_left']:.2g} of its first value"
        text += f"; weight decay is {numbers['weight_decay']:.3g}" if numbers["weight_decay"] > 0 else ""
        return Verdict("weight_size", True, text, shown, (Suspect("optimizer/weight_decay_too_strong", 0.85, text),))
    return Verdict("weight_size", False, text, shown)
