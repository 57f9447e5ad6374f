"""Does each training batch have enough rows for BatchNorm's statistics?

BatchNorm normalizes a training batch by the batch's own mean and variance, and keeps running averages of both for eval mode. The
kept batches go through the trained model once more, in train mode. `rows` is the number of rows that enter at once. `values` is
the number of values per channel (rows times image positions) in the layer with the fewest. `scatter` is the root mean square log
ratio of a batch's variance to the running variance, in the layer where it is largest. For batches of thirty rows it is below 0.2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import NORMS, batches, model_of, need_steps
from bugzoo.diagnostics.conditions import Alarm, above, measured
from bugzoo.diagnostics.numbers import ANY, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
VIEW = "layers"
TITLE = "Rows in a training batch"
KNOWN_PROBLEMS = (
    "A false positive for image models that train on one image at a time and use BatchNorm as instance normalization on "
    "purpose. "
    "It misses batches of four rows or more, and says nothing about frozen BatchNorm layers or layers without running "
    "averages."
)
_NORMED = ("nn.ReLU()", "nn.BatchNorm1d(32), nn.ReLU()")
HEALTHY = example(_NORMED)
SICK = example(_NORMED, ("split(32)", "split(2)"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts, and a root mean square of log ratios."""

    rows: float = number("samples that a BatchNorm layer averages over", (4, ANY))
    values: float = number("values per channel that a BatchNorm layer averages over", (8, ANY))
    scatter: float = number("log ratio of batch to running variances (RMS)", (0, 0.3))


few_rows = Alarm(
    measured("rows") & ~above("rows", 3) & above("scatter", 0.22),
    "The training batches were recorded. One has {rows:.0f} rows, and its variances are {scatter:.2f} (log ratio) from "
    "the running ones.",
    "More than {limits[rows]:.0f} rows pass, or at most {limits[scatter]:.2f}.",
)
ALARMS = (few_rows,)


def _averages(model: torch.nn.Module) -> list[torch.nn.Module]:
    """Layers that keep running averages and were trained. A frozen layer keeps the averages that it came with."""
    layers = (layer for layer in model.modules() if isinstance(layer, NORMS) and layer.running_var is not None)
    return [layer for layer in layers if layer.weight is None or layer.weight.requires_grad]


def _variance(layer: Any) -> torch.Tensor:
    return layer.running_var.double().clone()


def measure(run: Run) -> Numbers:
    """Counts, and a root mean square. Raises NotApplicable for a model without BatchNorm, or one that cannot be called again."""
    need_steps(run, 1)
    examples = batches(run)
    model = model_of(run, examples[-1])
    layers = _averages(model)
    if not layers:
        raise NotApplicable("the model has no trained BatchNorm layer with running averages")
    entries: dict[torch.nn.Module, list[tuple[int, int, float]]] = {layer: [] for layer in layers}
    average: dict[Any, torch.Tensor] = {layer: _variance(layer) for layer in layers}

    def entered(layer: Any, args: Any) -> None:
        rows = args[0].detach().double().transpose(0, 1).flatten(1)  # (channels, values)
        if rows.shape[1] > 1:
            ratio = (rows.var(1) + layer.eps) / (average[layer] + layer.eps)
            entries[layer].append((args[0].shape[0], rows.shape[1], float(ratio.log().square().mean())))

    hooks = [layer.register_forward_pre_hook(entered) for layer in layers]
    try:
        with quiet(model, training=True):
            for batch in examples:
                call(model, batch.args, batch.kwargs)
    except Exception as error:
        raise NotApplicable(f"the model cannot be called again ({type(error).__name__})") from None
    finally:
        for hook in hooks:
            hook.remove()
    records = [np.asarray(entry) for entry in entries.values() if entry]
    if not records:
        raise NotApplicable("no batch reached a BatchNorm layer")
    return Numbers(
        rows=float(np.median([entry[:, 0] for entry in records])),
        values=float(min(np.median(entry[:, 1]) for entry in records)),
        scatter=float(max(np.sqrt(entry[:, 2].mean()) for entry in records)),
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on batches of a few rows whose variances are far from the running ones."""
    text = (
        f"a training batch has {numbers.rows:.0f} rows (usually {Numbers.usual('rows')}), {numbers.values:.0f} values "
        f"per channel. Its variances differ from the running ones by {numbers.scatter:.2f} in log ratio "
        f"(usually {Numbers.usual('scatter')})"
    )
    fired = few_rows(numbers)
    suspects = (Suspect("modes/batch_norm_tiny_batches", 0.8, text),) if fired else ()
    return Verdict("batch_statistics", fired, text, numbers.labeled(), suspects)
