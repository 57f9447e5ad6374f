"""Does one column of the inputs hold the target itself?

A table that was put together by hand easily keeps the column that is to be predicted, or a copy of it under another name, in
other units. Every column of the kept training batches is laid beside the targets. A number that tells the target by its size
is what training is for; a column that *is* the target is it in all samples, but for a factor and a constant.
"""

from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick
from bugzoo.diagnostics.data_inspection import _table
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "copies": ("columns that are the target", "0"),
    "columns": ("columns of the inputs", ""),
    "nearest": ("correlation of the nearest one with it", "below 1"),
    "samples": ("samples looked at", ""),
}
HEALTHY = example()
SICK = example(("model = nn", "inputs[:, 5] = 3.0 * targets - 1.0\nmodel = nn"))
LEAST = 32
"""Samples below which a column may be the target by chance."""
EQUAL = 1e-5
"""Part of a target's spread that may lie between it and a copy: single precision, and a mean taken away."""


def measure(run: Run) -> dict[str, Any]:
    """Counts, and the largest correlation. Raises NotApplicable where the inputs are no table with one target a row."""
    x, y = _table(run)
    if y is None or not x.is_floating_point() or x.ndim != 2 or x.shape[1] < 2:
        raise NotApplicable("the inputs are no table of at least two columns with a target for each row")
    target = y.reshape(len(y), -1)
    if target.shape[1] != 1 or len(x) < LEAST:
        raise NotApplicable(f"there is not one target for each of at least {LEAST} samples")
    known = torch.isfinite(x).all(1) & torch.isfinite(target.double()).all(1)
    values, wanted = x[known].double(), target[known, 0].double()
    if len(wanted) < LEAST or float(wanted.std()) == 0:
        raise NotApplicable("the targets of the kept samples are all the same")
    values, centred = values - values.mean(0), wanted - wanted.mean()
    varied = values.norm(dim=0) > 1e-12
    slope = (centred @ values) / values.pow(2).sum(0).clamp(min=1e-24)
    left = (centred[:, None] - slope * values).abs().amax(0) / centred.std()
    correlation = (centred @ values).abs() / (values.norm(dim=0) * centred.norm()).clamp(min=1e-24)
    copies = varied & (left < EQUAL)
    return {
        "copies": float(copies.sum()),
        "columns": float(x.shape[1]),
        "column": float(copies.nonzero()[0, 0]) if bool(copies.any()) else -1.0,
        "nearest": float(correlation.max()),
        "samples": float(len(wanted)),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where a column is the target, but for a factor and a constant, in every sample."""
    shown = pick(numbers, *SHOWN)
    if not numbers["copies"]:
        return Verdict("feature_leak", False, "no column of the inputs is the target", shown)
    text = f"column {numbers['column']:.0f} of the inputs (from 0) is the target itself, but for a factor and a constant, in all"
    text += f" {numbers['samples']:.0f} samples"
    return Verdict("feature_leak", True, text, shown, (Suspect("data/target_among_inputs", 0.85, text),))
