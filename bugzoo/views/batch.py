"""What is in a batch, and which label does each sample have?

Left: samples of one batch with the labels that the loss compares them with. Pixels are on a gray scale from 0 to 1, or on
the data's own scale if they do not fit. A token in brackets has no word in the vocabulary. Right: the labels in each kept
batch, first sample to last, in the order of the steps.
"""

from typing import Any

import torch

from bugzoo.rerun import experiments
from bugzoo.running.result import Run
from bugzoo.views import _at_step, _samples, _samples_picture
from bugzoo.views.row import ANY, Row

# fmt: off
ROWS = (
    Row("step", "optimizer step of the batch shown"),
    Row("rows", "samples in the batch shown"),
    Row("shape", "shape of its inputs"),
    Row("dtype", "dtype of its inputs"),
    Row("label_shape", "shape of its labels, as the loss has them"),
    Row("smallest", "smallest input value", (-20, 5)),
    Row("largest", "largest input value", (0.1, 20)),
    Row("not_finite", "input values that are not finite", (0, 0)),
    Row("zeros", "share of inputs that are exactly 0", (0, 0.8)),
    Row("distinct", "distinct input values", (10, ANY)),
    Row("length", "tokens of a sample before the padding, mean"),
    Row("padding", "share of padding tokens"),
    Row("unnamed", "share of the other tokens without a word", (0, 0.4)),
    Row("same_token", "share of targets equal to the token at their place", (0, 0.5)),
    Row("next_token", "share of targets equal to the next token"),
    Row("labels_in_batch", "distinct labels in the batch shown", (2, ANY)),
    Row("data_inspection.samples", "samples in all kept batches"),
    Row("data_inspection.max", "largest input value in all kept batches", (0.1, ANY)),
    Row("data_inspection.non_finite_share", "share of input values that are not finite", (0, 0)),
    Row("data_inspection.label_entropy", "entropy of the labels in all kept batches (nats)"),
    Row("data_inspection.neighbour_agreement", "share of near neighbors with one label", "well above chance"),
    Row("data_inspection.chance_agreement", "share of near neighbors with one label, by chance"),
    Row("data_inspection.agreement_over_chance", "share of near neighbors with one label, above chance", (0.1, 1)),
    Row("batch_order.mixed", "label entropy of a batch over that of random batches", (0.7, 1.3)),
    Row("batch_order.same_batch_share", "share of kept batches equal to the first one", (0, 0.1)),
    Row("batch_order.repeated_epoch_share", "share of batches that come again in the last epoch", (0, 0.1)),
    Row("batch_order.loader_batches", "batches of the largest loader"),
    Row("batch_order.epochs", "epochs"),
    Row("feature_leak.nearest", "largest correlation of an input column with the target", (0, 0.95)),
    Row("input_detail.values", "distinct values in all kept batches"),
    Row("input_detail.held", "distinct values in the script's table of such rows"),
    Row("input_detail.whole_share", "share of inputs that are whole numbers", (0, 0.9)),
    Row("normalisation_source.columns", "columns with mean 0 over more than the training rows", (0, 0)),
    Row("normalisation_source.mean_train", "largest mean of such columns over training rows, in deviations", (0, 0.001)),
)
# fmt: on


def prepare(source: str, step: int) -> str:
    """Return the script with a line in front that keeps the batch of `step`. Raises NotApplicable as `changed` does."""
    placed = experiments.changed(source, "other_seed")  # finds the line in front of the first statement
    call = "__import__({!r}, fromlist=['{}']).{}("
    before = call.format(experiments.__name__, "other_seed", "other_seed")
    return placed.replace(before, call.format(_at_step.__name__, "keep", "keep") + str(int(step)), 1)


def measure(run: Run, step: int | None = None) -> dict[str, Any]:
    """Numbers and samples of the first kept batch, or of the batch of `step`. Raises NotApplicable without it."""
    batch = _samples.chosen(run, step)
    x = _samples.inputs(batch)
    y = _samples.labels(batch, len(x))
    numbers: dict[str, Any] = {
        "step": float(batch.step), "rows": float(len(x)), "shape": " x ".join(map(str, x.shape)),
        "dtype": str(x.dtype).removeprefix("torch."), "distinct": float(len(x.unique())),
    }  # fmt: skip
    finite = x[torch.isfinite(x)].double()
    if finite.numel():  # for the picture's scale; of tokens these say nothing
        numbers |= {"low": float(finite.min()), "high": float(finite.max())}
    numbers |= _of_floats(x) if x.is_floating_point() else _of_tokens(run, batch, x, y)
    if batch.targets is not None:
        numbers["label_shape"] = " x ".join(map(str, batch.targets.shape)) or "one number"
    if y is not None:
        numbers["labels_in_batch"] = float(len(y.unique()))
    return numbers | _samples.drawn(run, batch, x, y) | _samples.in_order(run, batch)


def _of_floats(x: torch.Tensor) -> dict[str, float]:
    finite = x[torch.isfinite(x)].double()
    numbers = {"not_finite": float(x.numel() - finite.numel())}
    if finite.numel():
        numbers |= {
            "smallest": float(finite.min()), "largest": float(finite.max()), "zeros": float((finite == 0).double().mean()),
        }  # fmt: skip
    return numbers


def _of_tokens(run: Run, batch: Any, x: torch.Tensor, y: torch.Tensor | None) -> dict[str, float]:
    """Padding: the id that most rows end with, if it has no word, or one such as <pad>."""
    if x.ndim != 2:
        return {}
    words = _samples.vocabulary(run, batch, x).words
    last = int(x[:, -1].mode().values)
    padded = bool(words) and "pad" in words.get(last, "pad").lower()
    read = x != last if padded else torch.ones_like(x, dtype=torch.bool)
    numbers = {}
    if words:
        named = torch.isin(x[read], torch.tensor(list(words)))
        numbers = {"padding": float((~read).double().mean()), "length": float(read.sum()) / len(x)}
        numbers["unnamed"] = float((~named).double().mean()) if len(named) else 0.0
    if y is not None and y.shape == x.shape and not y.is_floating_point():
        counted = read & (y >= 0)  # below zero: ignored targets
        numbers |= {
            "same_token": float((y == x)[counted].double().mean()),
            "next_token": float((y[:, :-1] == x[:, 1:])[read[:, 1:] & counted[:, :-1]].double().mean()),
        }
    return {name: value for name, value in numbers.items() if value == value}  # NaN: the mean of nothing


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the samples, and beside them the labels of the batches."""
    _samples_picture.draw(numbers, figure)
