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
from matplotlib.figure import Figure

from bugzoo.files import write_atomic
from bugzoo.plots._smoothing import comparable, smoothed, smoothed_label, window

# vermilion and light blue: distinct with every kind of color vision, at least 3 : 1 on a white and on a dark page
BROKEN, HEALTHY = "#d55e00", "#4b98c9"
FAINT = 0.35
"""Opacity of what was measured, under the mean of it."""


def draw(
    numbers: Mapping[str, Any],
    upper: Axes,
    lower: Axes,
    ink: str = "black",
    names: tuple[str, str] = ("broken", "healthy"),
) -> None:
    """`numbers`: {"broken": {"losses", "grad_norms", "validation"} | None, "healthy": ..., "marks": [(step, text)],
    "first_non_finite": {"step"} | None}. "validation" may be left out: curves of (step, loss).

    `ink`: color of text and axes; `names`: labels of the two runs.
    """
    runs = [(names[1], HEALTHY, numbers.get("healthy")), (names[0], BROKEN, numbers.get("broken"))]
    width = window(max((len(run["losses"]) for _, _, run in runs if run), default=0))
    for ax, key, name in ((upper, "losses", "loss"), (lower, "grad_norms", "gradient norm")):
        for called, colour, run in runs:
            if run:
                _curve(ax, run[key], colour, called, width)
        values = [v for _, _, run in runs for v in (run or {}).get(key, ())]
        if any(v > 0 and math.isfinite(v) for v in values):
            ax.set_yscale("log")
        ax.set_ylabel(name, color=ink)
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(ink)
        ax.tick_params(which="both", colors=ink)
    marks = [(int(step), str(text)) for step, text in numbers.get("marks") or ()]
    first = numbers.get("first_non_finite")
    if first:
        place = ", ".join(str(first[key]) for key in ("module", "op") if first.get(key))
        marks.append((first["step"], f"first non-finite number\n{place}".strip()))
    for row, (step, text) in enumerate(sorted(marks)):
        _mark(upper, lower, step, text, row, ink)
    for called, colour, run in runs:
        validations = comparable((run or {}).get("validation", ()), (run or {}).get("losses", ()))
        for number, curve in enumerate(validations):
            _validation(upper, curve, colour, "" if number else f"{called}, validation")
    _shade(upper, (numbers.get("broken") or {}).get("losses", ()), ink)
    upper.legend(frameon=False, loc="best", labelcolor=ink)
    lower.set_xlabel("optimizer step", color=ink)


def _validation(ax: Axes, curve: Sequence[tuple[int, float]], colour: str, label: str) -> None:
    """Draw the losses of an evaluation: a diamond each, and a dashed line between them."""
    steps, losses = zip(*curve, strict=True)
    ax.plot(
        steps, losses, color=colour, linestyle="--", linewidth=1, marker="D", markersize=5, markeredgecolor="white",
        markeredgewidth=0.6, label=label or None, zorder=4,
    )  # fmt: skip


def _curve(ax: Axes, values: Sequence[float], colour: str, label: str, width: int) -> None:
    """Draw a run: what was measured, faint where it is noisy, and its mean over `width` steps on top."""
    steps = range(1, len(values) + 1)
    if width > 1:
        ax.plot(steps, smoothed(values, 1), color=colour, linewidth=0.8, alpha=FAINT)
    ax.plot(steps, smoothed(values, width), color=colour, linewidth=1.7, label=smoothed_label(label, width))


def _mark(upper: Axes, lower: Axes, step: int, text: str, row: int, ink: str) -> None:
    """Draw a line at a step, with a note above the curves; a second one's note stands below the first's."""
    for ax in (upper, lower):
        ax.axvline(step, color=ink, linestyle=":", linewidth=1)
    upper.annotate(
        f"step {step}: {text}",
        xy=(step, 0.97 - 0.16 * row), xycoords=("data", "axes fraction"), xytext=(6, 0), textcoords="offset points",
        va="top", color=ink, fontsize=9,
    )  # fmt: skip


def _shade(ax: Axes, losses: Sequence[float], ink: str) -> None:
    """Shade the steps whose loss is no number: there is nothing to draw there."""
    lost = [step for step, value in enumerate(losses, 1) if not math.isfinite(value)]
    if lost:
        ax.axvspan(lost[0] - 0.5, lost[-1] + 0.5, color=BROKEN, alpha=0.18, linewidth=0)
        ax.text(lost[0], 0.03, "  no finite loss", transform=ax.get_xaxis_transform(), color=ink, fontsize=9)


def picture(
    numbers: Mapping[str, Any], title: str = "", ink: str = "black", names: tuple[str, str] = ("broken", "healthy")
) -> Figure:
    """Return the figure, created without pyplot, so that no figure stays open."""
    figure = Figure(figsize=(8, 4.8), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    draw(numbers, upper, lower, ink, names)
    if title:
        figure.suptitle(title, fontsize=11, color=ink)
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
