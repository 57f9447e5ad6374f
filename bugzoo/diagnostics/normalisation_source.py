"""Are the normalization statistics (mean, standard deviation) computed on the training rows alone?

These statistics are learned too: with validation rows in them, validation data leaks into training. Columns with a mean of 0 to
the last digit and a standard deviation of 1 were standardized over exactly these rows. These should be the training rows, not
the validation rows, both together or a longer table. `columns` counts the columns for which they are not. For these,
`mean_train` is the largest mean over the training rows, in deviations. Constants, one mean for all columns and a batch's own
mean leave no such columns. Nor does a deviation of all rows beside the right mean.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._data import training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.train_validation_overlap import _LOADERS
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import variables
from bugzoo.running.result import Run

COST = 1
VIEW = "batch"
TITLE = "Scale of the inputs"
KNOWN_PROBLEMS = (
    "A false positive for a published table that was already standardized before the script loads and splits it. "
    "It sees only columns with mean 0 and deviation 1 in DataLoaders: not min-max scaling, imputed values or images."
)
_SCALED = "inputs = (inputs - inputs{0}.mean(0)) / inputs{0}.std(0)\ntargets = (inputs"
HEALTHY = example(("targets = (inputs", _SCALED.format("[:200]")), *_LOADERS)
SICK = example(("targets = (inputs", _SCALED.format("")), *_LOADERS)
ZERO, ONE, MOST = 1e-4, 0.02, 20_000
"""Tolerances of a mean of 0 and a deviation of 1 (over n or n - 1); most rows."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """A count of columns, and a mean in standard deviations of the training rows."""

    columns: int = number("columns with mean 0 over more than the training rows", (0, 0))
    mean_train: float = number("largest mean of such columns over training rows, in deviations", (0, 0.001))


other_mean = Alarm(
    above("columns") & above("mean_train", 1e-3),
    "Each input column was averaged over the training rows. In {columns:.0f} columns the mean is up to "
    "{mean_train:.2g}.",
    "It should be 0 there; up to {limits[mean_train]:g} passes.",
)
ALARMS = (other_mean,)


def _stacked(dataset: Any) -> torch.Tensor:
    """(samples, columns) inputs. Raises NotApplicable for a dataset that is not a table of numbers."""
    try:
        rows = torch.stack([torch.as_tensor(dataset[place][0]) for place in range(min(len(dataset), MOST))]).cpu()
    except Exception as error:
        raise NotApplicable(f"the dataset does not give tensors of one shape ({type(error).__name__})") from None
    if rows.ndim != 2 or not rows.is_floating_point():
        raise NotApplicable("the samples are not rows of a table")
    return rows.double()


def _standardised(rows: torch.Tensor) -> torch.Tensor:
    """(columns,) bool: mean 0 and standard deviation 1 over these rows."""
    return (rows.mean(0).abs() < ZERO) & ((rows.std(0) - 1).abs() < ONE)


def _tables(run: Run, like: torch.Tensor) -> list[torch.Tensor]:
    """Tables among the script's variables that have the same columns and more rows."""
    tables = []
    for value in variables(run).values():
        if isinstance(value, torch.Tensor | np.ndarray) and value.ndim == 2 and value.shape[1] == like.shape[1]:
            if len(value) > len(like) and str(value.dtype).removeprefix("torch.").startswith("float"):
                tables.append(torch.as_tensor(value).detach().cpu().double())
    return tables


def measure(run: Run) -> Numbers:
    """A count, and a mean in deviations. Raises NotApplicable unless training and evaluation read loaders of table rows."""
    loader = training_loader(run)
    if loader is None:
        raise NotApplicable("the training loop reads no DataLoader, so its samples cannot be listed")
    loaders = [other for other in evaluated(run).loaders if other.dataset is not loader.dataset]
    if not loaders:
        raise NotApplicable("the evaluation reads no DataLoader of its own, so its samples cannot be listed")
    trained, validated = _stacked(loader.dataset), _stacked(loaders[-1].dataset)
    if trained.shape[1:] != validated.shape[1:]:
        raise NotApplicable("training and evaluation read rows with different columns")
    beyond = torch.zeros(trained.shape[1], dtype=torch.bool)
    for more in [validated, torch.cat([trained, validated]), *_tables(run, trained)]:
        beyond |= _standardised(more)
    means = (trained.mean(0) / trained.std(0))[beyond].abs()
    return Numbers(columns=int(beyond.sum()), mean_train=float(means.max()) if len(means) else 0.0)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on columns that are standardized over other rows, and not over the training rows."""
    text = "no column is standardized by rows outside the training set"
    suspects: tuple[Suspect, ...] = ()
    if other_mean(numbers):
        text = f"{numbers.columns} columns have mean 0 and deviation 1 over rows beyond the training rows; over these"
        text += f" alone their mean is up to {numbers.mean_train:.2g} (usually {Numbers.usual('mean_train')})"
        suspects = (Suspect("data/leaky_normalisation", 0.85, text),)
    return Verdict("normalisation_source", bool(suspects), text, numbers.labeled(), suspects)
