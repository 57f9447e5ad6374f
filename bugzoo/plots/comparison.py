"""A broken run over its healthy twin: loss above, gradient norm below.

Read it from the left: while the curves agree, nothing has gone wrong yet. Look at the step where they part. A dotted
line marks the first number that is not finite; the steps without a loss are shaded.
"""

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from bugzoo.files import write_atomic
from bugzoo.plots import _style
from bugzoo.plots._labels import end_labels, mark, reference
from bugzoo.plots._palette import HEALTHY, INK, THIS_RUN
from bugzoo.plots._smoothing import comparable, smoothed, smoothed_note, window

FAINT = 0.35
"""Opacity of what was measured, under the mean of it."""


def draw(numbers: Mapping[str, Any], upper: Axes, lower: Axes, names: tuple[str, str] = ("broken", "healthy")) -> None:
    """`numbers`: {"broken": {"losses", "grad_norms", "validation"} | None, "healthy": ..., "marks": [(step, text)],
    "first_non_finite": {"step"} | None, "reference": {name: loss}}. "validation" may be left out: curves of (step, loss).

    `names`: labels of the two runs.
    """
    runs = [(names[1], HEALTHY, numbers.get("healthy")), (names[0], THIS_RUN, numbers.get("broken"))]
    width = window(max((len(run["losses"]) for _, _, run in runs if run), default=0))
    for ax, key, name in ((upper, "losses", "loss"), (lower, "grad_norms", "gradient norm")):
        for called, color, run in runs:
            if run:
                _curve(ax, run[key], color, called, width)
        values = [v for _, _, run in runs for v in (run or {}).get(key, ())]
        if any(v > 0 and math.isfinite(v) for v in values):
            ax.set_yscale("log")
        _style.prepare(ax, "", f"optimizer step{smoothed_note(width)}" if ax is lower else "", name)
    for name, loss in (numbers.get("reference") or {}).items():
        reference(upper, loss, name)
    marks = [(int(step), str(text)) for step, text in numbers.get("marks") or ()]
    first = numbers.get("first_non_finite")
    if first:
        place = ", ".join(str(first[key]) for key in ("module", "op") if first.get(key))
        marks.append((first["step"], f"first non-finite number\n{place}".strip()))
    for step, text in sorted(marks):
        mark(upper, step, f"step {step}: {text}", lower)
    for called, color, run in runs:
        validations = comparable((run or {}).get("validation", ()), (run or {}).get("losses", ()))
        for number, curve in enumerate(validations):
            _validation(upper, curve, color, "" if number else f"{called}, validation")
    _shade(upper, (numbers.get("broken") or {}).get("losses", ()))
    end_labels(upper)


def _validation(ax: Axes, curve: Sequence[tuple[int, float]], color: str, label: str) -> None:
    """Draw the losses of an evaluation: a diamond each, and a dashed line between them."""
    steps, losses = zip(*curve, strict=True)
    ax.plot(
        steps, losses, color=color, linestyle="--", linewidth=1, marker="D", markersize=5, label=label or None, zorder=4,
    )  # fmt: skip


def _curve(ax: Axes, values: Sequence[float], color: str, label: str, width: int) -> None:
    """Draw a run: what was measured, faint where it is noisy, and its mean over `width` steps on top."""
    steps = range(1, len(values) + 1)
    if width > 1:
        ax.plot(steps, smoothed(values, 1), color=color, linewidth=0.8, alpha=FAINT)
    ax.plot(steps, smoothed(values, width), color=color, linewidth=1.7, label=label)


def _shade(ax: Axes, losses: Sequence[float]) -> None:
    """Shade the steps whose loss is no number: there is nothing to draw there."""
    lost = [step for step, value in enumerate(losses, 1) if not math.isfinite(value)]
    if lost:
        ax.axvspan(lost[0] - 0.5, lost[-1] + 0.5, color=THIS_RUN, alpha=0.18, linewidth=0)
        ax.text(lost[0], 0.03, "  no finite loss", transform=ax.get_xaxis_transform(), color=INK, fontsize=_style.TEXT)


def picture(numbers: Mapping[str, Any], title: str = "", names: tuple[str, str] = ("broken", "healthy")) -> Any:
    """Return the figure."""
    figure = _style.figure(4.4)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    if title:
        figure.suptitle(title, fontsize=_style.TITLE, color=INK)
    draw(numbers, upper, lower, names)
    return figure


def save(numbers: Mapping[str, Any], path: Path, title: str = "") -> Path:
    """Write the plot; the file's suffix gives the format (.png, .svg, .pdf).

    Raises ValueError for a suffix that matplotlib does not know, UserError if the file cannot be written.
    """
    # no date in the file: the same numbers give the same bytes
    extra: dict[str, Any] = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}
    image = io.BytesIO()
    picture(numbers, title).savefig(image, format=path.suffix.lstrip("."), dpi=130, **extra)
    write_atomic(path, image.getvalue())
    return path
