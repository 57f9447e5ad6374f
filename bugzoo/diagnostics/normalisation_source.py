"""Were the numbers that normalise the data taken from the training rows alone?

Means and deviations are learnt as well, and what is learnt from the validation rows is known of them. Columns of mean 0 to the
last digit and deviation 1 were brought there by the rows over which they are so. These should be the rows that are trained on;
where it is the validation rows, both together or a longer table of the script, something of what is to be judged by went into
the training. `columns` counts such columns, `mean_train` is the largest mean that one of them has over the training rows, in
deviations. Constants known beforehand, one mean for all columns and a batch's own mean leave none; neither does a deviation
taken from all rows beside the right mean.
"""

from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._data import training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick
from bugzoo.diagnostics.train_validation_overlap import _LOADERS
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "columns": ("columns with mean 0 and deviation 1 over rows that are not all trained on", "0"),
    "mean_train": ("largest mean of one of them over the training rows, in deviations", "0"),
}
_SCALED = "inputs = (inputs - inputs{0}.mean(0)) / inputs{0}.std(0)\ntargets = (inputs"
HEALTHY = example(("targets = (inputs", _SCALED.format("[:200]")), *_LOADERS)
SICK = example(("targets = (inputs", _SCALED.format("")), *_LOADERS)
ZERO, ONE, OFF, MOST = 1e-4, 0.02, 1e-3, 20_000
"""A mean of 0 and a deviation of 1 (over n or n - 1), up to these; a mean that is none; rows looked at."""


def _stacked(dataset: Any) -> torch.Tensor:
    """(samples, columns) inputs. Raises NotApplicable for a dataset that is no table of numbers."""
    try:
        rows = torch.stack([torch.as_tensor(dataset[place][0]) for place in range(min(len(dataset), MOST))]).cpu()
    except Exception as error:
        raise NotApplicable(f"its data set does not give tensors of one shape ({type(error).__name__})") from None
    if rows.ndim != 2 or not rows.is_floating_point():
        raise NotApplicable("its samples are no rows of a table")
    return rows.double()


def _standardised(rows: torch.Tensor) -> torch.Tensor:
    """(columns,) bool: mean 0 and deviation 1 over these rows."""
    return (rows.mean(0).abs() < ZERO) & ((rows.std(0) - 1).abs() < ONE)


def _tables(run: Run, like: torch.Tensor) -> list[torch.Tensor]:
    """Tables among the script's names that have the same columns and more rows."""
    found = []
    for value in (run.namespace or live(run).namespace).values():
        if isinstance(value, torch.Tensor | np.ndarray) and value.ndim == 2 and value.shape[1] == like.shape[1]:
            if len(value) > len(like) and str(value.dtype).removeprefix("torch.").startswith("float"):
                found.append(torch.as_tensor(value).detach().cpu().double())
    return found


def measure(run: Run) -> dict[str, Any]:
    """A count, and a mean in deviations. Raises NotApplicable unless two loaders of rows of a table are read."""
    loader = training_loader(run)
    if loader is None:
        raise NotApplicable("the training loop reads no DataLoader, so that its samples cannot be listed")
    asked = [one for one in evaluated(run).loaders if one.dataset is not loader.dataset]
    if not asked:
        raise NotApplicable("the evaluation reads no DataLoader of its own, so that its samples cannot be listed")
    trained, validated = _stacked(loader.dataset), _stacked(asked[-1].dataset)
    if trained.shape[1:] != validated.shape[1:]:
        raise NotApplicable("training and evaluation read rows of different columns")
    found = torch.zeros(trained.shape[1], dtype=torch.bool)
    for more in [validated, torch.cat([trained, validated]), *_tables(run, trained)]:
        found |= _standardised(more)
    means = (trained.mean(0) / trained.std(0))[found].abs()
    return {"columns": int(found.sum()), "mean_train": float(means.max()) if len(means) else 0.0}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on columns that are standardised over rows that are not trained on, and over the training rows are not."""
    shown = pick(numbers, *SHOWN)
    if numbers["columns"] and numbers["mean_train"] > OFF:
        text = f"{numbers['columns']} columns have mean 0 and deviation 1 over more than the rows that are trained on, over"
        text += f" these a mean of up to {numbers['mean_train']:.2g}: what normalises was taken from all of them"
        return Verdict("normalisation_source", True, text, shown, (Suspect("data/leaky_normalisation", 0.85, text),))
    return Verdict("normalisation_source", False, "nothing was normalised by rows that are not trained on", shown)
