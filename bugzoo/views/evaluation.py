"""What does the evaluation measure, and on which data?

Left: the same metric on training batches, recomputed in the script's own evaluation, and as the script reports it. Upper
right: recall, the share of a class's validation samples that the model labels with it. Lower right: how often each label
occurs in training and in validation.
"""

from typing import Any

import numpy as np

from bugzoo.diagnostics import read
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.views import _draw, _evaluated
from bugzoo.views.row import ANY, Row

# fmt: off
ROWS = (
    Row("generalisation.train_accuracy", "accuracy on the last training batches", "that of the evaluation, or a little above"),
    Row("generalisation.validation_accuracy", "accuracy in the script's evaluation"),
    Row("generalisation.gap", "training accuracy minus validation accuracy", (-0.15, 0.25)),
    Row("train_loss", "loss on the last training batches"),
    Row("loss_above", "loss in the evaluation minus on these batches (nats)", (-1, 3)),
    Row("reported_metric.samples", "targets in the evaluation"),
    Row("reported_metric.reported", "accuracy that the script reports", "the recomputed one"),
    Row("reported_metric.recomputed", "accuracy recomputed over all samples"),
    Row("reported_metric.gap", "difference of reported and recomputed accuracy", (0, 0.001)),
    Row("reported_metric.reported_loss", "loss that the script reports", "the recomputed one"),
    Row("reported_metric.recomputed_loss", "mean loss recomputed over all samples"),
    Row("reported_metric.loss_gap", "relative difference of reported and recomputed loss", (0, 0.001)),
    Row("class_balance.classes", "classes in the evaluation"),
    Row("class_balance.rare_classes", "classes under a third of an even share in training"),
    Row("class_balance.rarity", "training samples of a rare class over a usual one"),
    Row("class_balance.common_recall", "mean recall of the common classes"),
    Row("class_balance.rare_recall", "mean recall of the rare classes", "about that of the common ones"),
    Row("recall_gap", "recall of the other classes minus that of rare ones", (-1, 0.2)),
    Row("balanced", "balanced accuracy: mean recall of all classes"),
    Row("over_balanced", "accuracy minus balanced accuracy", (-0.1, 0.1)),
    Row("kept_weights.copies", "copies of the weights that the script holds"),
    Row("kept_weights.restored", "copies that equal the final weights"),
    Row("kept_weights.loss", "loss in the evaluation with the final weights"),
    Row("kept_weights.kept_loss", "loss in the evaluation with the best of the copies", "not lower than with the final ones"),
    Row("kept_weights.better", "share by which the loss of the copy is lower", (-ANY, 0.01)),
    Row("unread", "loaders that the script never uses", (0, 0)),
    Row("places", "lines of the script that evaluate the reported samples"),
    Row("train_validation_overlap.trained", "training samples that were compared"),
    Row("train_validation_overlap.validated", "validation samples that were compared"),
    Row("train_validation_overlap.shared", "share of validation samples that are training samples too", (0, 0.1)),
    Row("validation_shift.label_distance", "share of labels to change until both sets match", (0, 0.25)),
    Row("validation_shift.unseen_classes", "share of validation labels not in training", (0, 0.05)),
    Row("validation_shift.mean_shift", "shift of the mean input, in training deviations", (0, 0.3)),
    Row("validation_shift.spread_ratio", "deviation of validation inputs over training inputs", (0.5, 2)),
    Row("validation_shift.redrawn", "share of inputs that change when it runs again", (0, 0)),
)
# fmt: on
PARTS = (_evaluated.said, _evaluated.trained, _evaluated.asked, _evaluated.loaders, _evaluated.places)


def measure(run: Run) -> dict[str, Any]:
    """Each part that can be measured. Raises NotApplicable where none can."""
    numbers: dict[str, Any] = {}
    reasons = []
    for part in PARTS:
        try:
            numbers |= part(run)
        except NotApplicable as why:
            reasons.append(str(why))
    if not numbers:
        raise NotApplicable("; ".join(dict.fromkeys(reasons)))
    if numbers.get("one_label"):  # tokens of a text are never even, and the rare ones never as easy
        numbers |= {key: value for key, value in read("class_balance", run).numbers.items() if key == "recall_gap"}
    if "train_loss" in numbers and "classes" in numbers:
        numbers["loss_above"] = numbers["loss"] - numbers["train_loss"]
    return numbers


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the metric to the left, and to the right what is known about labels."""
    classes, edges = numbers.get("classes"), numbers.get("edges")
    left, *right = figure.add_gridspec(
        1, 2 if classes or edges else 1, width_ratios=(1, 1.3)[: 1 + bool(classes or edges)]
    )
    _metric(numbers, figure.add_subplot(left))
    if classes:
        upper, lower = right[0].subgridspec(2, 1).subplots(sharex=True)
        _classes(numbers, upper, lower)
    elif edges:
        _targets(numbers, figure.add_subplot(right[0]))


def _metric(numbers: dict[str, Any], ax: Any) -> None:
    """Accuracy where each sample has one label, else the loss."""
    by_token = numbers.get("one_label") == 0
    values = {} if by_token and "said_loss" in numbers else _accuracies(numbers)
    if values:
        _draw.prepare(ax, "", "accuracy (share)")
    else:
        values = _losses(numbers)
        _draw.prepare(ax, "", f"loss ({numbers.get('loss_name') or 'in its own unit'})")
    if not values:
        _draw.absent(ax, "neither accuracy nor loss is known")
        return
    accuracy = "accuracy" in ax.get_xlabel()
    known = [value for value in values.values() if _evaluated.finite(value)]
    least, most = min([*known, 0.0]), max([*known, 1.0 if accuracy else 0.0])
    span = most - least or 1.0
    for place, value in enumerate(reversed(values.values())):
        at = value if _evaluated.finite(value) else 0.0
        ax.plot([0, at], [place, place], color=_draw.GREY, linewidth=1)
        ax.plot([at], [place], "o", color=_draw.COLOURS[len(values) - 1 - place], markersize=7, clip_on=False)
        near = "left" if at - least < 0.15 * span else "center"
        ax.text(at, place + 0.14, f"{value:.4g}", color=_draw.GREY, fontsize=8, ha=near, va="bottom")
    ax.set_yticks(range(len(values)), list(reversed(values)), fontsize=8)
    ax.set(ylim=(-0.5, len(values) - 0.4), xlim=(least, least + 1.12 * span))


def _accuracies(numbers: dict[str, Any]) -> dict[str, float]:
    found = {
        "training\nbatches": numbers.get("generalisation.train_accuracy", numbers.get("train_accuracy")),
        "evaluation,\nrecomputed": numbers.get("reported_metric.recomputed", numbers.get("accuracy")),
        "evaluation,\nreported": numbers.get("reported_metric.reported", numbers.get("said_accuracy")),
    }
    return {name: value for name, value in found.items() if value is not None}


def _losses(numbers: dict[str, Any]) -> dict[str, float]:
    found = {
        "training\nbatches": numbers.get("train_loss"),
        "evaluation,\nrecomputed": numbers.get("loss"),
        "evaluation,\nreported": numbers.get("said_loss"),
        "with the best\nkept copy": numbers.get("kept_weights.kept_loss"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _classes(numbers: dict[str, Any], upper: Any, lower: Any) -> None:
    names = [f"{one:.0f}" for one in numbers["classes"]]
    at = np.arange(len(names))
    _draw.prepare(upper, "", "", "recall (share)")
    upper.plot(at, numbers["recalls"], "o", color=_draw.COLOURS[1], markersize=5 if len(names) < 20 else 3)
    upper.set_ylim(-0.05, 1.05)
    _draw.prepare(lower, "", "label" if numbers["by_class"] else "label, the commonest ones first", "frequency (share)")
    for place, (key, name) in enumerate((("train_shares", "training batches"), ("validation_shares", "validation"))):
        if numbers.get(key):
            lower.bar(at + 0.4 * place - 0.2, numbers[key], 0.4, color=_draw.COLOURS[place], label=name)
    every = -(-len(names) // 12)
    lower.set_xticks(at[::every], names[::every], fontsize=7)
    lower.set_ylim(0, 1.35 * max([*numbers["validation_shares"], *numbers["train_shares"], 1e-9]))
    for ax in (upper, lower):
        ax.yaxis.label.set_size(8)
    lower.legend(frameon=False, labelcolor=_draw.GREY, fontsize=8, ncols=2, loc="upper right", borderaxespad=0)


def _targets(numbers: dict[str, Any], ax: Any) -> None:
    _draw.prepare(ax, "", "target (in its own unit)", "share of samples")
    for place, (key, name) in enumerate((("train_shares", "training batches"), ("validation_shares", "validation"))):
        if numbers.get(key):
            ax.stairs(numbers[key], numbers["edges"], color=_draw.COLOURS[place], label=name, linewidth=1.6)
    ax.set_ylim(0, None)
    _draw.legend(ax)
