"""What is in a batch, and which label does each sample have?

Left: samples of one batch with the labels that the loss compares them with. Pixels are on a gray scale from 0 to 1, or on
the data's own scale if they do not fit. A token in brackets has no word in the vocabulary. Right: the labels in each kept
batch, first sample to last, in the order of the steps.
"""

from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics.numbers import ANY, optional
from bugzoo.rerun import experiments
from bugzoo.running.result import Run
from bugzoo.views import _at_step, _samples, _samples_picture
from bugzoo.views._seen import Seen
from bugzoo.watching.live import Batch

ORDER = (
    "step", "rows", "shape", "dtype", "label_shape", "smallest", "largest", "not_finite", "zeros", "distinct", "length",
    "padding", "unnamed", "same_token", "next_token", "labels_in_batch", "data_inspection", "batch_order",
    "feature_leak", "input_detail", "normalisation_source",
)  # fmt: skip


@dataclass(kw_only=True)
class Numbers(Seen):
    """The batch, a few of its samples by `kind` (images, tokens or table), and the labels of each kept batch."""

    step: float | None = optional("optimizer step of the batch shown")
    rows: float | None = optional("samples in the batch shown")
    shape: str | None = optional("shape of its inputs")
    dtype: str | None = optional("dtype of its inputs")
    label_shape: str | None = optional("shape of its labels, as the loss has them")
    smallest: float | None = optional("smallest input value", (-20, 5))
    largest: float | None = optional("largest input value", (0.1, 20))
    not_finite: float | None = optional("input values that are not finite", (0, 0))
    zeros: float | None = optional("share of inputs that are exactly 0", (0, 0.8))
    distinct: float | None = optional("distinct input values", (10, ANY))
    length: float | None = optional("tokens of a sample before the padding, mean")
    padding: float | None = optional("share of padding tokens")
    unnamed: float | None = optional("share of the other tokens without a word", (0, 0.4))
    same_token: float | None = optional("share of targets equal to the token at their place", (0, 0.5))
    next_token: float | None = optional("share of targets equal to the next token")
    labels_in_batch: float | None = optional("distinct labels in the batch shown", (2, ANY))
    low: float | None = None
    high: float | None = None
    kind: str | None = None
    side: list[int] | None = None
    """Height and width of an image before it is averaged down."""
    samples: list[Any] | None = None
    """Text of tokens; (height, width) or (columns,) numbers of the other kinds."""
    labels: list[str] | None = None
    targets: list[str] | None = None
    """Text, where each token has its own target."""
    order_steps: list[float] | None = None
    order_labels: list[list[float]] | None = None


def prepare(source: str, step: int) -> str:
    """Return the script with a line in front that keeps the batch of `step`. Raises NotApplicable as `changed` does."""
    placed = experiments.changed(source, "other_seed")  # finds the line in front of the first statement
    call = "__import__({!r}, fromlist=['{}']).{}("
    before = call.format(experiments.__name__, "other_seed", "other_seed")
    return placed.replace(before, call.format(_at_step.__name__, "keep", "keep") + str(int(step)), 1)


def measure(run: Run, step: int | None = None) -> Numbers:
    """Numbers and samples of the first kept batch, or of the batch of `step`. Raises NotApplicable without it."""
    batch = _samples.chosen(run, step)
    x = _samples.inputs(batch)
    y = _samples.labels(batch, len(x))
    numbers = Numbers(
        step=float(batch.step),
        rows=float(len(x)),
        shape=" x ".join(map(str, x.shape)),
        dtype=str(x.dtype).removeprefix("torch."),
        distinct=float(len(x.unique())),
    )
    finite = x[torch.isfinite(x)].double()
    if finite.numel():  # for the picture's scale; of tokens these say nothing
        numbers.low, numbers.high = float(finite.min()), float(finite.max())
    if x.is_floating_point():
        numbers.not_finite = float(x.numel() - finite.numel())
        numbers.smallest, numbers.largest, numbers.zeros = numbers.low, numbers.high, _share(finite == 0)
    elif x.ndim == 2:
        _add_tokens(numbers, run, batch, x, y)
    if batch.targets is not None:
        numbers.label_shape = " x ".join(map(str, batch.targets.shape)) or "one number"
    if y is not None:
        numbers.labels_in_batch = float(len(y.unique()))
    _samples.add_samples(numbers, run, batch, x, y)
    numbers.order_steps, numbers.order_labels = _samples.in_order(run, batch)
    return numbers


def _share(true: torch.Tensor) -> float | None:
    """Return the share of true elements; None without elements."""
    return float(true.double().mean()) if true.numel() else None


def _add_tokens(numbers: Numbers, run: Run, batch: Batch, x: torch.Tensor, y: torch.Tensor | None) -> None:
    """Padding: the id that most rows end with, if it has no word, or one such as <pad>."""
    words = _samples.vocabulary(run, batch, x).words
    last = int(x[:, -1].mode().values)
    padded = bool(words) and "pad" in words.get(last, "pad").lower()
    read = x != last if padded else torch.ones_like(x, dtype=torch.bool)
    if words:
        numbers.padding, numbers.length = _share(~read), float(read.sum()) / len(x)
        numbers.unnamed = _share(~torch.isin(x[read], torch.tensor(list(words)))) or 0.0
    if y is not None and y.shape == x.shape and not y.is_floating_point():
        counted = read & (y >= 0)  # below zero: ignored targets
        numbers.same_token = _share((y == x)[counted])
        numbers.next_token = _share((y[:, :-1] == x[:, 1:])[read[:, 1:] & counted[:, :-1]])


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the samples, and beside them the labels of the batches."""
    _samples_picture.draw(numbers, figure)
