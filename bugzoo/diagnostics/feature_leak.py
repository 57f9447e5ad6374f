"""Is any input column a copy of the target?

A table that was put together by hand easily keeps the target column, or a copy of it under another name or in other units. Every
column of the kept training batches is compared with the targets. A column that predicts the target is what training needs. A
column that *equals* the target does so in all samples, up to a factor and a constant.
"""

from dataclasses import dataclass

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.data_inspection import _table
from bugzoo.diagnostics.numbers import FLAG, TWICE, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 1
VIEW = "batch"
TITLE = "Input columns"
KNOWN_PROBLEMS = (
    "A false positive for a toy regression whose target is an exact linear function of one column, without noise. "
    "It misses noisy, rounded or nonlinear copies and copies spread over several columns, and says nothing about inputs "
    "that are not a table."
)
HEALTHY = example()
SICK = example(("model = nn", "inputs[:, 5] = 3.0 * targets - 1.0\nmodel = nn"))
LEAST = 32
"""With fewer samples, a column may equal the target by chance."""
EQUAL = 1e-5
"""Largest deviation of a copy, as a share of the target's spread: float32 rounding after a mean is subtracted."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts and a correlation; `column` is the first copy, counted from 0, and -1 without one."""

    nearest: float = number("largest correlation of an input column with the target", (0, 0.95))
    copies: float = number("input columns that equal the target", (0, 0), hidden=FLAG)
    columns: float = number("columns of the inputs", hidden="the shape of the inputs says it")
    samples: float = number("samples that were compared", hidden=TWICE)
    column: float


target_columns = Alarm(
    above("copies"),
    "Each input column was compared with the target. {copies:.0f} of {columns:.0f} columns are equal to it.",
    "No column should be equal to it ({limits[copies]:.0f}).",
)
ALARMS = (target_columns,)


def measure(run: Run) -> Numbers:
    """Counts, and the largest correlation. Raises NotApplicable unless the inputs are a table with one target per row."""
    x, y = _table(run)
    if y is None or not x.is_floating_point() or x.ndim != 2 or x.shape[1] < 2:
        raise NotApplicable("the inputs are not a table of at least two columns with one target per row")
    target = y.reshape(len(y), -1)
    if target.shape[1] != 1 or len(x) < LEAST:
        raise NotApplicable(f"the batches do not hold one target for each of at least {LEAST} samples")
    finite = torch.isfinite(x).all(1) & torch.isfinite(target.double()).all(1)
    values, target = x[finite].double(), target[finite, 0].double()
    if len(target) < LEAST or float(target.std()) == 0:
        raise NotApplicable("the targets of the kept samples are all the same")
    values, centred = values - values.mean(0), target - target.mean()
    varied = values.norm(dim=0) > 1e-12
    slope = (centred @ values) / values.pow(2).sum(0).clamp(min=1e-24)
    left = (centred[:, None] - slope * values).abs().amax(0) / centred.std()
    correlation = (centred @ values).abs() / (values.norm(dim=0) * centred.norm()).clamp(min=1e-24)
    copies = varied & (left < EQUAL)
    return Numbers(
        nearest=float(correlation.max()),
        copies=float(copies.sum()),
        columns=float(x.shape[1]),
        samples=float(len(target)),
        column=float(copies.nonzero()[0, 0]) if bool(copies.any()) else -1.0,
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if a column equals the target in every sample, up to a factor and a constant."""
    if not target_columns(numbers):
        return Verdict("feature_leak", False, "no input column equals the target", numbers.labeled())
    text = f"input column {numbers.column:.0f} (from 0) equals the target, up to a factor and a constant, in all"
    text += f" {numbers.samples:.0f} samples"
    return Verdict("feature_leak", True, text, numbers.labeled(), (Suspect("data/target_among_inputs", 0.85, text),))
