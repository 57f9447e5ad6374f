"""The step at which a fault first shows: the one that its parameter sets, else the first loss that is not finite."""

import math
from collections.abc import Mapping
from typing import Any

from bugzoo.faults.model import Fault
from bugzoo.grading import healthy
from bugzoo.lab.healthy_twin import Curve

SYMPTOM = "non_finite"
"""The symptom whose first step a run shows by itself."""


def onset(fault: Fault, params: Mapping[str, Any], text: str, ranks: int = 1) -> tuple[int, int] | None:
    """Return the first and the last step that count as the onset; None if the fault shows from the first step.

    `text` is the program with the fault, on `ranks` processes. It runs only where a parameter does not give the step, and
    once on a machine. The step may depend on rounding, so it is that of this machine. Raises UserError if it does not run.
    """
    if "step" in fault.params:  # it counts the steps that are done, and the loss may show it one later
        return int(params["step"]) + 1, int(params["step"]) + 2
    return first_non_finite(healthy.recorded(text, ranks)) if fault.symptom == SYMPTOM else None


def first_non_finite(curve: Curve) -> tuple[int, int] | None:
    """Return (step of the first NaN or infinite gradient or loss, step of the first such loss), from 1.

    None if every loss is finite, or if the first one is not.
    """
    bad = next((at for at, loss in enumerate(curve.losses) if not math.isfinite(loss)), 0)
    if not bad:
        return None
    before = bad
    # a gradient norm that is NaN at the first step was not measured, and says nothing
    while math.isfinite(curve.grad_norms[0]) and not math.isfinite(curve.grad_norms[before - 1]):
        before -= 1
    return curve.steps[before], curve.steps[bad]
