"""What does the evaluation measure, and on which data?

Left: the same metric on training batches, recomputed in the script's own evaluation, and as the script reports it. Upper
right: recall, the share of a class's validation samples that the model labels with it. Lower right: how often each label
occurs in training and in validation.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bugzoo.diagnostics import read
from bugzoo.diagnostics.numbers import optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.views import _draw, _evaluated
from bugzoo.views._seen import Seen

ORDER = (
    "generalisation", "train_loss", "loss_above", "reported_metric", "class_balance", "recall_gap", "balanced",
    "over_balanced", "kept_weights", "unread", "places", "train_validation_overlap", "validation_shift",
)  # fmt: skip
PARTS = (_evaluated.reported, _evaluated.trained, _evaluated.recomputed, _evaluated.loaders, _evaluated.places)


@dataclass(kw_only=True)
class Numbers(Seen):
    """Shares, and losses in the unit `loss_name`; recalls and shares of `classes`, or shares between `edges`."""

    train_loss: float | None = optional("loss on the last training batches")
    loss_above: float | None = optional("loss in the evaluation minus on these batches (nats)", (-1, 3))
    recall_gap: float | None = optional("recall of the other classes minus that of rare ones", (-1, 0.2))
    balanced: float | None = optional("balanced accuracy: mean recall of all classes")
    over_balanced: float | None = optional("accuracy minus balanced accuracy", (-0.1, 0.1))
    unread: float | None = optional("loaders that the script never uses", (0, 0))
    places: float | None = optional("lines of the script that evaluate the reported samples")
    said_accuracy: float | None = None
    said_loss: float | None = None
    train_accuracy: float | None = None
    accuracy: float | None = None
    loss: float | None = None
    loss_name: str | None = None
    one_label: float | None = None
    """1 where the loss has one label for each sample that the model gets, and 0 where it has one for each token."""
    by_class: bool | None = None
    """Whether all classes are here, in their order."""
    classes: list[float] | None = None
    recalls: list[float] | None = None
    edges: list[float] | None = None
    validation_shares: list[float] | None = None
    train_shares: list[float] | None = None


def measure(run: Run) -> Numbers:
    """Each part that can be measured. Raises NotApplicable where none can."""
    numbers = Numbers()
    reasons = []
    for add_part in PARTS:
        try:
            add_part(numbers, run)
        except NotApplicable as why:
            reasons.append(str(why))
    if not numbers.measured():
        raise NotApplicable("; ".join(dict.fromkeys(reasons)))
    if numbers.one_label:  # tokens of a text are never even, and the rare ones never as easy
        numbers.recall_gap = read("class_balance", run).numbers.get("recall_gap")
    if numbers.train_loss is not None and numbers.loss is not None and numbers.classes is not None:
        numbers.loss_above = numbers.loss - numbers.train_loss
    return numbers


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the metric to the left, and to the right what is known about labels."""
    parts = 2 if numbers.classes or numbers.edges else 1
    left, *right = figure.add_gridspec(1, parts, width_ratios=(1, 1.3)[:parts])
    _metric(numbers, figure.add_subplot(left))
    if numbers.classes:
        upper, lower = right[0].subgridspec(2, 1).subplots(sharex=True)
        _classes(numbers, numbers.classes, upper, lower)
    elif numbers.edges:
        _targets(numbers, figure.add_subplot(right[0]))


def _metric(numbers: Numbers, ax: Any) -> None:
    """Accuracy where each sample has one label, else the loss."""
    values = {} if numbers.one_label == 0 and numbers.said_loss is not None else _accuracies(numbers)
    if values:
        _draw.prepare(ax, "", "accuracy (share)")
    else:
        values = _losses(numbers)
        _draw.prepare(ax, "", f"loss ({numbers.loss_name or 'in its own unit'})")
    if not values:
        _draw.absent(ax, "neither accuracy nor loss is known")
        return
    accuracy = "accuracy" in ax.get_xlabel()
    finite = [value for value in values.values() if math.isfinite(value)]
    least, most = min([*finite, 0.0]), max([*finite, 1.0 if accuracy else 0.0])
    span = most - least or 1.0
    for place, value in enumerate(reversed(values.values())):
        at = value if math.isfinite(value) else 0.0
        ax.plot([0, at], [place, place], color=_draw.INK, linewidth=1)
        ax.plot([at], [place], "o", color=_draw.THIS_RUN, markersize=7, clip_on=False)
        near = "left" if at - least < 0.15 * span else "center"
        ax.text(at, place + 0.14, f"{value:.4g}", color=_draw.INK, fontsize=_draw.TEXT, ha=near, va="bottom")
    ax.set_yticks(range(len(values)), list(reversed(values)))
    ax.set(ylim=(-0.5, len(values) - 0.4), xlim=(least, least + 1.12 * span))


def _accuracies(numbers: Numbers) -> dict[str, float]:
    accuracies = {
        "training\nbatches": numbers.instruments.get("generalisation.train_accuracy", numbers.train_accuracy),
        "evaluation,\nrecomputed": numbers.instruments.get("reported_metric.recomputed", numbers.accuracy),
        "evaluation,\nreported": numbers.instruments.get("reported_metric.reported", numbers.said_accuracy),
    }
    return {name: value for name, value in accuracies.items() if value is not None}


def _losses(numbers: Numbers) -> dict[str, float]:
    losses = {
        "training\nbatches": numbers.train_loss,
        "evaluation,\nrecomputed": numbers.loss,
        "evaluation,\nreported": numbers.said_loss,
        "with the best\nkept copy": numbers.instruments.get("kept_weights.kept_loss"),
    }
    return {name: value for name, value in losses.items() if value is not None}


def _classes(numbers: Numbers, classes: list[float], upper: Any, lower: Any) -> None:
    names = [f"{label:.0f}" for label in classes]
    at = np.arange(len(names))
    _draw.prepare(upper, "", "", "recall (share)")
    upper.plot(at, numbers.recalls, "o", color=_draw.THIS_RUN, markersize=5 if len(names) < 20 else 3)
    upper.set_ylim(-0.05, 1.05)
    _draw.prepare(lower, "", "label" if numbers.by_class else "label, the commonest ones first", "frequency (share)")
    for place, (name, shares) in enumerate(_shares(numbers)):
        if shares:
            lower.bar(at + 0.4 * place - 0.2, shares, 0.4, color=_draw.COLORS[place], label=name)
    every = -(-len(names) // 12)
    lower.set_xticks(at[::every], names[::every])
    lower.set_ylim(0, 1.1 * max([1e-9, *(share for _, shares in _shares(numbers) for share in shares)]))
    _draw.legend(lower, 2)


def _shares(numbers: Numbers) -> list[tuple[str, list[float]]]:
    return [("training batches", numbers.train_shares or []), ("validation", numbers.validation_shares or [])]


def _targets(numbers: Numbers, ax: Any) -> None:
    _draw.prepare(ax, "", "target (in its own unit)", "share of samples")
    for place, (name, shares) in enumerate(_shares(numbers)):
        if shares:
            ax.stairs(shares, numbers.edges, color=_draw.COLORS[place], label=name, linewidth=1.6)
    ax.set_ylim(0, None)
    _draw.legend(ax)
