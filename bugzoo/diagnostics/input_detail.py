"""Do the model's inputs keep the detail of the raw data?

Gray values of 0 to 16 that are divided by 16 and stored as integers are 0, except for the few that were 16. The dtype may be
float again when they enter the model, and the range looks right. The kept inputs are compared with a table of rows of the same
length that the script still holds, the one with the most distinct numbers. `values` and `held` count the distinct numbers in
both. `ones` is the share of inputs that are not 0, `largest` the share of the table that is its largest number. Truncated inputs
are whole numbers, far fewer of them, and not 0 where the table was largest. A threshold set on purpose is lower.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick
from bugzoo.diagnostics.data_inspection import _table
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "values": ("distinct values in all kept batches", ""),
    "held": ("distinct values in the script's table of such rows", ""),
    "whole_share": ("share of inputs that are whole numbers", "0 to 0.9"),
    "ones": ("share of inputs that are not 0", ""),
    "largest": ("share of the table that is its largest number", ""),
}
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


def _arrays(names: Mapping[str, Any]) -> Iterator[np.ndarray]:
    """Arrays among the script's variables, and in mappings that it loaded (a Bunch of scikit-learn's)."""
    for value in names.values():
        for one in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(one, torch.Tensor) and one.ndim > 1 and not one.requires_grad:
                one = one.detach().cpu().numpy() if one.dtype != torch.bfloat16 else None
            if isinstance(one, np.ndarray) and one.ndim > 1 and one.dtype.kind in "fiu":
                yield one


def measure(run: Run) -> dict[str, Any]:
    """Counts and shares between 0 and 1. Raises NotApplicable for tokens, and without such a table."""
    inputs, _ = _table(run)
    if not inputs.is_floating_point() or inputs.ndim < 2:
        raise NotApplicable("the model's inputs are not rows of numbers")
    x = inputs.float().numpy()
    length = int(np.prod(x.shape[1:]))
    found = [
        one for one in _arrays(run.namespace or live(run).namespace) if len(one) > len(x) and one[0].size == length
    ]
    if not found:
        raise NotApplicable("the script holds no table with more rows like the model's inputs")
    tables = [one[:ROWS].reshape(-1, length).astype(np.float64) for one in found]
    table = max(tables, key=lambda one: len(np.unique(one)))
    return {
        "values": len(np.unique(x)),
        "held": len(np.unique(table)),
        "whole_share": float((x == np.trunc(x)).mean()),
        "ones": float((x != 0).mean()),
        "largest": float((np.abs(table) == np.abs(table).max()).mean()),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on whole numbers that are far fewer than the table's, and not 0 about as often as this is at its largest."""
    shown = pick(numbers, *SHOWN)
    lost = numbers["whole_share"] == 1 and FEWER * numbers["values"] <= numbers["held"]
    if lost and abs(numbers["ones"] - numbers["largest"]) < ALIKE * numbers["largest"]:
        text = f"the inputs are whole numbers with {numbers['values']} distinct values, and the raw data has {numbers['held']}: "
        text += "all but its largest values were truncated to 0"
        return Verdict("input_detail", True, text, shown, (Suspect("precision/integer_features", 0.85, text),))
    return Verdict("input_detail", False, "the inputs keep the detail of the raw data", shown)
