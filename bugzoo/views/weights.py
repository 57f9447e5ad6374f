"""Is each tensor trainable, in an optimizer, reached by a gradient, and moved?

One row a tensor: a filled mark for yes, a hollow one for no, a half-filled one where the tensors of a row differ. An
optimizer counts once it has stepped; the number beside its mark is the index in param_groups. "late" is a move between the
last two measured steps. To the right stands each row's norm after the first and after the last measured step.
"""

import math
from typing import Any

import numpy as np

from bugzoo.running.result import Run
from bugzoo.views import _above, _draw, _grouped, _tensors
from bugzoo.views.row import ANY, Row

COLUMNS = ("trainable", "optimizer", "gradient", "moved", "late")

ROWS = (
    Row("tensors", "parameter tensors"),
    Row("parameter_audit.elements", "elements of all parameters"),
    Row("formats", "dtypes of the trainable parameters"),
    Row("half_share", "share of trainable elements in float16", (0, 0)),
    Row("parameter_audit.frozen_share", "share of elements that are not trainable"),
    Row("parameter_audit.frozen_untouched_share", "share of elements not trainable that never moved", (0, 0.3)),
    Row("parameter_audit.frozen_at_random_share", "share of elements not trainable, like a random start", (0, 0.04)),
    Row("parameter_audit.optimised_share", "share of elements in an optimizer that stepped"),
    Row(
        "parameter_audit.outside_and_untouched_share",
        "share of elements trainable, in no optimizer, never moved",
        (0, 0),
    ),
    Row("parameter_audit.unregistered_share", "share of elements used, but not in model.parameters()", (0, 0.02)),
    Row("parameter_audit.unchanged_share", "share of elements in an optimizer that never moved", (0, 0)),
    Row("parameter_audit.without_gradient_share", "share of elements in an optimizer, never with a gradient", (0, 0)),
    Row("parameter_audit.unmoved_share", "share of elements that never moved"),
    Row("weight_size.shrunk_to", "norm at the end over the start, median of the matrices", (0.6, ANY)),
    Row("weight_size.smallest", "norm at the end over the start, smallest of a matrix"),
    Row("weight_size.weight_decay", "largest weight_decay of a parameter group"),
    Row("weight_size.loss_left", "loss at the end over that at the start"),
    Row("optimizer_handover.left_out_share", "share trained before, trainable, not in the last optimizer", (0, 0.05)),
    Row("optimizer_handover.frozen_share", "share trained before, not trainable at the end", (0, 0.9)),
    Row("optimizer_handover.inside_share", "share of new elements that lie before old ones"),
    Row("untrained_rows.read", "words that the evaluation reads"),
    Row("untrained_rows.untrained_share", "share of words whose embedding row had no gradient", (0, 0.02)),
    Row("untrained_rows.reached_share", "share of embedding rows used in training or evaluation"),
)


def measure(run: Run) -> dict[str, Any]:
    """One entry a row of the picture. Shares are of the row's tensors."""
    tensors = _tensors.of(run)
    trainable = [one for one in tensors if one.trainable]
    total = sum(math.prod(one.shape) for one in trainable)
    rows = _grouped.rows(tensors)
    return {
        "tensors": float(len(tensors)),
        "formats": ", ".join(dict.fromkeys(one.dtype for one in trainable)),
        "half_share": sum(math.prod(one.shape) for one in trainable if one.dtype == "float16") / max(1, total),
        "names": [name for name, _ in rows],
        "shown": float(sum(len(part) for _, part in rows)),
        "trainable": [_share([one.trainable for one in part]) for _, part in rows],
        "optimizer": [_share([one.group is not None for one in part]) for _, part in rows],
        "gradient": [_share([one.reached for one in part]) for _, part in rows],
        "moved": [_share([one.moved != 0 for one in part]) for _, part in rows],
        "late": [_share([one.late for one in part]) for _, part in rows],
        "groups": [", ".join(sorted({str(one.group) for one in part if one.group is not None})) for _, part in rows],
        "start": [math.hypot(*(one.start for one in part)) for _, part in rows],
        "end": [math.hypot(*(one.end for one in part)) for _, part in rows],
    }


def _share(answers: list[bool | None]) -> float:
    """Return the share of yes; NaN where the answer is not known."""
    known = [one for one in answers if one is not None]
    return sum(known) / len(known) if known else math.nan


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the grid of marks, and the norms at the start and at the end beside it."""
    names = numbers.get("names", [])
    if not names:
        return
    figure.set_size_inches(7.0, 1.0 + 0.17 * max(6, len(names)))
    grid, norms = figure.subplots(1, 2, sharey=True, width_ratios=(1.15, 1.0))
    for ax, xlabel in ((grid, ""), (norms, "norm")):
        _draw.prepare(ax, "", xlabel)
    _marks(grid, numbers)
    grid.set_yticks(range(len(names)), names, fontsize=7, color=_draw.GREY)
    grid.set_ylim(len(names) - 0.4, -0.6)
    tensors, shown = numbers.get("tensors", 0.0), numbers.get("shown", 0.0)
    text = f"{shown:.0f} of {tensors:.0f} tensors" if shown < tensors else f"{tensors:.0f} tensors"
    grid.set_xlabel(text, color=_draw.GREY)
    _norms(norms, numbers)


def _marks(ax: Any, numbers: dict[str, Any]) -> None:
    """Draw one mark a cell: filled, half-filled, hollow; a dash where nothing is known."""
    groups = numbers.get("groups", [])
    several = len({one for one in groups if one}) > 1
    for column, key in enumerate(COLUMNS):
        for row, share in enumerate(numbers.get(key, [])):
            if math.isnan(share):
                ax.plot(column, row, marker="_", color=_draw.GREY, markersize=6)
                continue
            style = "full" if share == 1 else "none" if share == 0 else "left"
            ax.plot(
                column, row, marker="o", color=_draw.GREY, markersize=6, fillstyle=style, markerfacecoloralt="none",
                markeredgewidth=1.0,
            )  # fmt: skip
            if several and key == "optimizer" and groups[row]:
                ax.text(column + 0.2, row, groups[row], color=_draw.GREY, fontsize=7, va="center")
    ax.set_xticks(range(len(COLUMNS)), COLUMNS, fontsize=7, rotation=30, ha="left", rotation_mode="anchor")
    ax.tick_params(axis="x", top=True, labeltop=True, bottom=False, labelbottom=False, pad=1)
    ax.set_xlim(-0.5, len(COLUMNS) - 0.5)
    ax.spines["bottom"].set_visible(False)


def _norms(ax: Any, numbers: dict[str, Any]) -> None:
    """Draw two points a row, joined by a line: a large one for the norm at the start, a small one for that at the end."""
    start, end = (np.asarray(numbers.get(key, []), dtype=np.float64) for key in ("start", "end"))
    known = np.isfinite(start) & np.isfinite(end) & (start > 0) & (end > 0)
    if not known.any():
        _draw.absent(ax, "no norm was measured" if np.isnan(end).all() else "every norm is 0 or not finite")
        return
    rows = np.flatnonzero(known)
    ax.hlines(rows, start[known], end[known], color=_draw.GREY, linewidth=0.8)
    ax.plot(
        start[known], rows, "o", color=_draw.COLOURS[1], markersize=6.5, fillstyle="none", label="first measured step"
    )
    ax.plot(end[known], rows, "o", color=_draw.COLOURS[0], markersize=3.5, label="last")
    ax.set_xscale("log")
    low, high = min(start[known].min(), end[known].min()), max(start[known].max(), end[known].max())
    ax.set_xlim(min(low / 2, high / 500), max(high * 2, low * 500))
    _above.legend(ax, size=7)
