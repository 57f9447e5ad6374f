"""Do the model's inputs keep the detail of the raw data?

Gray values of 0 to 16 that are divided by 16 and stored as integers are 0, except for the few that were 16. The dtype may be
float again when they enter the model, and the range looks right. The kept inputs are compared with a table of rows of the same
length that the script still holds, the one with the most distinct numbers. `values` and `held` count the distinct numbers in
both. `ones` is the share of inputs that are not 0, `largest` the share of the table that is its largest number. Truncated inputs
are whole numbers, far fewer of them, and not 0 where the table was largest. A threshold set on purpose is lower.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.conditions import Alarm, Condition
from bugzoo.diagnostics.data_inspection import _table
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import variables
from bugzoo.running.result import Run

COST = 1
VIEW = "batch"
TITLE = "Detail of the inputs"
KNOWN_PROBLEMS = (
    "A false positive where the inputs are binarized on purpose at the largest value of the table, as for saturated "
    "pixels. "
    "It misses inputs that are standardized after they lost detail, and needs a variable that holds a larger table "
    "of such rows."
)
_TABLE = "table = (inputs.abs() * 4).round().clamp(max=8)\ninputs = {}\nmodel = nn"
HEALTHY = example(("model = nn", _TABLE.format("table / 8")))
SICK = example(("model = nn", _TABLE.format("(table / 8).long().float()")))
ROWS, FEWER, ALIKE = 2000, 3, 0.3
"""Rows of a table that are read; how many times fewer values; how far two shares may differ, relatively."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts, and shares between 0 and 1."""

    values: int = number("distinct values in all kept batches")
    held: int = number("distinct values in the script's table of such rows")
    whole_share: float = number("share of inputs that are whole numbers", (0, 0.9))
    ones: float = number("share of inputs that are not 0", hidden="one minus the share of zeros")
    largest: float = number("share of the table that is its largest number", hidden="it only tells two causes apart")


def _truncated(numbers: Measured | Mapping[str, Any]) -> bool:
    """Return whether whole numbers are far fewer than the table's, and not 0 about as often as it is at its largest."""
    few = numbers["whole_share"] == 1 and FEWER * numbers["values"] <= numbers["held"]
    return few and abs(numbers["ones"] - numbers["largest"]) < ALIKE * numbers["largest"]


few_values = Alarm(
    Condition(_truncated, {}),
    "Distinct numbers were counted. The inputs have {values:.0f}, and the raw data has {held:.0f}.",
    "More than a third of the raw data's passes.",
)
ALARMS = (few_values,)


def _arrays(variables: Iterable[Any]) -> Iterator[np.ndarray]:
    """Arrays among the script's variables, and in mappings that it loaded (a Bunch of scikit-learn's)."""
    for variable in variables:
        for value in variable.values() if isinstance(variable, Mapping) else (variable,):
            if isinstance(value, torch.Tensor) and value.ndim > 1 and not value.requires_grad:
                value = value.detach().cpu().numpy() if value.dtype != torch.bfloat16 else None
            if isinstance(value, np.ndarray) and value.ndim > 1 and value.dtype.kind in "fiu":
                yield value


def measure(run: Run) -> Numbers:
    """Counts and shares between 0 and 1. Raises NotApplicable for tokens, and without such a table."""
    inputs, _ = _table(run)
    if not inputs.is_floating_point() or inputs.ndim < 2:
        raise NotApplicable("the model's inputs are not rows of numbers")
    x = inputs.float().numpy()
    length = int(np.prod(x.shape[1:]))
    arrays = _arrays(variables(run).values())
    longer = [array for array in arrays if len(array) > len(x) and array[0].size == length]
    if not longer:
        raise NotApplicable("the script holds no table with more rows like the model's inputs")
    tables = [array[:ROWS].reshape(-1, length).astype(np.float64) for array in longer]
    table = max(tables, key=lambda rows: len(np.unique(rows)))
    return Numbers(
        values=len(np.unique(x)),
        held=len(np.unique(table)),
        whole_share=float((x == np.trunc(x)).mean()),
        ones=float((x != 0).mean()),
        largest=float((np.abs(table) == np.abs(table).max()).mean()),
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on whole numbers that are far fewer than the table's, and not 0 about as often as this is at its largest."""
    if few_values(numbers):
        text = (
            f"the inputs are whole numbers with {numbers.values} distinct values, and the raw data has {numbers.held}: "
        )
        text += "all but its largest values were truncated to 0"
        suspects = (Suspect("precision/integer_features", 0.85, text),)
        return Verdict("input_detail", True, text, numbers.labeled(), suspects)
    return Verdict("input_detail", False, "the inputs keep the detail of the raw data", numbers.labeled())
