"""Partial points for a partial repair: which of several faults are gone, and is the rest no worse than expected?

A missing symptom is not enough: a disabled training shows no symptom either. A partial repair must do about as well as
the program with exactly those faults removed.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from bugzoo import faults
from bugzoo.faults.evidence import number, parse
from bugzoo.grading.baseline import reached, untouched
from bugzoo.grading.evaluation import task
from bugzoo.grading.model import Check
from bugzoo.running import Reading, Run
from bugzoo.running.reading import to_json
from bugzoo.scenario import Scenario

VALUE, LOSS, LOSS_NATS = 0.06, 1.5, 0.1
"""Tolerance around the half-repaired program's numbers: wider than for a full repair, as broken runs vary more."""


def shows(fault: faults.Fault, readings: Mapping[str, Reading]) -> bool:
    """Return whether the catalogue's evidence for a fault holds on these readings."""
    result = {"outcome": "", "numbers": to_json(readings)}
    return bool(fault.evidence) and all(parse(text).holds(result) for text in fault.evidence)


def _measured(fault: faults.Fault, readings: Mapping[str, Reading]) -> bool:
    """Return whether every number in the fault's evidence was measured."""
    return None not in [number({"numbers": to_json(readings)}, parse(text).left) for text in fault.evidence]


def repaired(case: Scenario, run: Run, judged: list[Check]) -> frozenset[str]:
    """Return ids of the faults of `case` for which this run earns points, on one seed.

    This is the largest set whose evidence was measured and is gone, and whose run is about as good as that of the
    program with just these repaired. A run that did not finish earns nothing.
    """
    gone = [fault.id for fault, _ in case.specs if not shows(fault, run.readings) and _measured(fault, run.readings)]
    if run.outcome != "finished":
        return frozenset()
    for size in range(len(gone), 0, -1):
        for chosen in combinations(gone, size):
            if _as_good(run, judged, case, chosen):
                return frozenset(chosen)
    return frozenset()


def without(case: Scenario, repaired: tuple[str, ...]) -> Scenario:
    """Return the scenario with these faults (ids) repaired and the others still there, same settings."""
    settings: dict[str, object] = {}
    for fault, _ in case.specs:
        settings |= fault.settings
    left = tuple(spec for spec, (fault, _) in zip(case.faults, case.specs, strict=True) if fault.id not in repaired)
    return replace(case, faults=left, settings=settings | dict(case.settings))


def _as_good(run: Run, judged: list[Check], case: Scenario, chosen: tuple[str, ...]) -> bool:
    try:
        other = reached(case, without(case, chosen).source)
    except RuntimeError:  # with these repaired the program still does not finish
        return False
    numbers = {check.name: check.number for check in judged}
    value, loss = numbers.get(task(case.program).metric), numbers.get("loss")
    if value is None or loss is None or not math.isfinite(loss):
        return False
    return (
        value >= other.value - VALUE
        and loss <= _bound(other.loss)
        and untouched(run) <= other.untouched
        and _late(run.trace.loss) <= _bound(_late(other.losses))
        and len(run.trace.step) == other.steps
    )


def _bound(loss: float) -> float:
    return LOSS * loss + LOSS_NATS if math.isfinite(loss) else -math.inf


def _late(losses: Any) -> float:
    """Return the mean of the last tenth of the training losses, nats; infinite if one is not finite."""
    values = np.asarray(losses, dtype=np.float64)
    last = values[-max(len(values) // 10, 1) :]
    return float(last.mean()) if len(last) and np.isfinite(last).all() else math.inf
