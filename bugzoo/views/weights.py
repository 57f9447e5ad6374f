"""Is each tensor trainable, in an optimizer, reached by a gradient, and moved?

One row a tensor: a filled mark for yes, a hollow one for no, a half-filled one where the tensors of a row differ. An
optimizer counts once it has stepped; the number beside its mark is the index in param_groups. "late" is a move between the
last two measured steps. To the right stands each row's norm after the first and after the last measured step.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bugzoo.diagnostics.numbers import optional
from bugzoo.running.result import Run
from bugzoo.views import _draw, _grouped, _tensors
from bugzoo.views._seen import Seen

COLUMNS = ("trainable", "optimizer", "gradient", "moved", "late")

ORDER = (
    "tensors", "parameter_audit.elements", "formats", "half_share", "parameter_audit", "weight_size",
    "optimizer_handover", "untrained_rows",
)  # fmt: skip


@dataclass(kw_only=True)
class Numbers(Seen):
    """Lists with an entry for each row of the picture, from `names` on: shares of its tensors, and norms."""

    tensors: float | None = optional("parameter tensors")
    formats: str | None = optional("dtypes of the trainable parameters")
    half_share: float | None = optional("share of trainable elements in float16", (0, 0))
    shown: float = 0.0
    names: list[str] = field(default_factory=list)
    trainable: list[float] = field(default_factory=list)
    optimizer: list[float] = field(default_factory=list)
    gradient: list[float] = field(default_factory=list)
    moved: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    end: list[float] = field(default_factory=list)


def measure(run: Run) -> Numbers:
    """One entry a row of the picture. Shares are of the row's tensors."""
    tensors = _tensors.of(run)
    trainable = [tensor for tensor in tensors if tensor.trainable]
    total = sum(math.prod(tensor.shape) for tensor in trainable)
    half = sum(math.prod(tensor.shape) for tensor in trainable if tensor.dtype == "float16")
    rows = _grouped.rows(tensors)
    parts = [part for _, part in rows]
    return Numbers(
        tensors=float(len(tensors)),
        formats=", ".join(dict.fromkeys(tensor.dtype for tensor in trainable)),
        half_share=half / max(1, total),
        shown=float(sum(map(len, parts))),
        names=[name for name, _ in rows],
        trainable=[_share([tensor.trainable for tensor in part]) for part in parts],
        optimizer=[_share([tensor.group is not None for tensor in part]) for part in parts],
        gradient=[_share([tensor.reached for tensor in part]) for part in parts],
        moved=[_share([tensor.moved != 0 for tensor in part]) for part in parts],
        late=[_share([tensor.late for tensor in part]) for part in parts],
        groups=[
            ", ".join(sorted({str(tensor.group) for tensor in part if tensor.group is not None})) for part in parts
        ],
        start=[math.hypot(*(tensor.start for tensor in part)) for part in parts],
        end=[math.hypot(*(tensor.end for tensor in part)) for part in parts],
    )


def _share(answers: list[bool | None]) -> float:
    """Return the share of yes; NaN where the answer is not known."""
    answered = [answer for answer in answers if answer is not None]
    return sum(answered) / len(answered) if answered else math.nan


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the grid of marks, and the norms at the start and at the end beside it."""
    names = numbers.names
    if not names:
        return
    figure.set_size_inches(7.0, 1.0 + 0.17 * max(6, len(names)))
    grid, norms = figure.subplots(1, 2, sharey=True, width_ratios=(1.15, 1.0))
    for ax, xlabel in ((grid, ""), (norms, "norm")):
        _draw.prepare(ax, "", xlabel)
    _marks(grid, numbers)
    grid.set_yticks(range(len(names)), names)
    grid.set_ylim(len(names) - 0.4, -0.6)
    tensors = numbers.tensors or 0.0
    text = f"{numbers.shown:.0f} of {tensors:.0f} tensors" if numbers.shown < tensors else f"{tensors:.0f} tensors"
    grid.set_xlabel(text)
    _norms(norms, numbers)


def _marks(ax: Any, numbers: Numbers) -> None:
    """Draw one mark a cell: filled, half-filled, hollow; a dash where nothing is known."""
    groups = numbers.groups
    several = len(set(filter(None, groups))) > 1
    for column, name in enumerate(COLUMNS):
        for row, share in enumerate(getattr(numbers, name)):
            if math.isnan(share):
                ax.plot(column, row, marker="_", color=_draw.INK, markersize=6)
                continue
            style = "full" if share == 1 else "none" if share == 0 else "left"
            ax.plot(
                column, row, marker="o", color=_draw.INK, markersize=6, fillstyle=style, markerfacecoloralt="none",
                markeredgewidth=1.0,
            )  # fmt: skip
            if several and name == "optimizer" and groups[row]:
                ax.text(column + 0.2, row, groups[row], color=_draw.INK, fontsize=_draw.TEXT, va="center")
    ax.set_xticks(range(len(COLUMNS)), COLUMNS, rotation=30, ha="left", rotation_mode="anchor")
    ax.tick_params(axis="x", top=True, labeltop=True, bottom=False, labelbottom=False, pad=1)
    ax.set_xlim(-0.5, len(COLUMNS) - 0.5)
    ax.spines["bottom"].set_visible(False)


def _norms(ax: Any, numbers: Numbers) -> None:
    """Draw two points a row, joined by a line: a large one for the norm at the start, a small one for that at the end."""
    start, end = np.asarray(numbers.start, dtype=np.float64), np.asarray(numbers.end, dtype=np.float64)
    positive = np.isfinite(start) & np.isfinite(end) & (start > 0) & (end > 0)
    if not positive.any():
        _draw.absent(ax, "no norm was measured" if np.isnan(end).all() else "every norm is 0 or not finite")
        return
    rows, start, end = np.flatnonzero(positive), start[positive], end[positive]
    ax.hlines(rows, start, end, color=_draw.INK, linewidth=0.8)
    ax.plot(start, rows, "o", color=_draw.COLORS[1], markersize=6.5, fillstyle="none", label="first measured step")
    ax.plot(end, rows, "o", color=_draw.COLORS[0], markersize=3.5, label="last")
    ax.set_xscale("log")
    _draw.decades(ax.set_xlim, [*start, *end])
    _draw.legend(ax)
