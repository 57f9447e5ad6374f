"""Effects by which a broken contract becomes a suspect: what it explains is seen in the run as well."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bugzoo.diagnostics._tools import column
from bugzoo.running.reading import Reading

if TYPE_CHECKING:
    from bugzoo.running.result import Run

LITTLE = 0.8
"""A loss that ends above this share of its first values has fallen little."""
APART = 2
"""A last held-out loss above this multiple of the training loss is far above it."""
NOTHING = 1e-3
"""A learning rate below this share of its largest moves weights a thousand times less."""
SIZE = 3
"""Times by which the spread of held-out inputs may differ from that of the training inputs."""
PART = 20
"""The first and the last twentieth of the losses are compared."""


def _losses(run: "Run") -> np.ndarray:
    loss = column(run.trace.loss)
    return loss[np.isfinite(loss)]


def _negative(run: "Run") -> bool:
    return bool((_losses(run) < -1e-6).any())


def _not_finite(run: "Run") -> bool:
    return run.trace.outcome == "non_finite" or run.trace.earliest("non_finite") is not None


def _little(run: "Run") -> bool:
    loss = _losses(run)
    if len(loss) < PART or loss[0] <= 0:
        return False
    part = len(loss) // PART
    return bool(loss[-part:].mean() > LITTLE * loss[:part].mean())


def _held_out_apart(run: "Run") -> bool:
    loss = _losses(run)
    if len(loss) < PART:
        return False
    end = loss[-(len(loss) // PART) :].mean()
    return any(validation.loss and validation.loss[-1] > APART * abs(end) for validation in run.trace.validation)


def _nothing_learned(run: "Run") -> bool:
    return bool(run.readings.get("loss_curve", Reading()).numbers.get("stuck_at_chance")) or _little(run)


def _unlike(run: "Run") -> bool:
    """Return whether the held-out inputs spread over a range of another size than those of training."""
    ratio = run.readings.get("validation_shift", Reading()).numbers.get("spread_ratio")
    return isinstance(ratio, float) and ratio > 0 and not 1 / SIZE < ratio < SIZE


def _near_nothing(run: "Run") -> bool:
    """Return whether the learning rate is nothing, beside its largest, in at least half of the steps."""
    rate = column(run.trace.learning_rate)
    rate = rate[np.isfinite(rate)]
    return bool(len(rate) >= 2 and np.median(rate) <= NOTHING * rate.max())


EFFECTS: dict[str, Callable[["Run"], bool]] = {
    "negative loss": _negative,
    "loss not finite": _not_finite,
    "loss falls little": _little,
    "held-out loss far above training": _held_out_apart,
    "held-out inputs unlike training": _unlike,
    "nothing learned": _nothing_learned,
    "rate near nothing": _near_nothing,
    "by itself": lambda run: True,
}
"""Name -> whether it is seen. "by itself": what was seen at the call is the effect, as when no tensor was loaded."""
