"""A broken run over its healthy twin: loss above, gradient norm below.

Read it from the left: while the curves agree, nothing has gone wrong yet. Look at the step where they part. A cross
marks the first non-finite number.
"""

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bugzoo.files import write_atomic

# vermilion and light blue: distinct with every kind of color vision, at least 3 : 1 on a white and on a dark page
BROKEN, HEALTHY = "#d55e00", "#4b98c9"


def _curve(ax: Axes, values: Sequence[float], colour: str, label: str, width: float) -> None:
    steps = range(1, len(values) + 1)
    shown = [value if math.isfinite(value) else math.nan for value in values]  # a gap at each non-finite number
    ax.plot(steps, shown, color=colour, linewidth=width, label=label)


def draw(
    numbers: Mapping[str, Any],
    upper: Axes,
    lower: Axes,
    ink: str = "black",
    names: tuple[str, str] = ("broken", "healthy"),
) -> None:
    """`numbers`: {"broken": {"losses", "grad_norms"} | None, "healthy": ..., "first_non_finite": {"step"} | None}.

    `ink`: color of text and axes; `names`: labels of the two runs.
    """
    for ax, key, name in ((upper, "losses", "loss"), (lower, "grad_norms", "gradient norm")):
        for which, called, colour, width in (("healthy", names[1], HEALTHY, 2.6), ("broken", names[0], BROKEN, 1.3)):
            if numbers.get(which):
                _curve(ax, numbers[which][key], colour, called, width)
        values = [v for which in ("healthy", "broken") for v in (numbers.get(which) or {}).get(key, ())]
        if any(v > 0 and math.isfinite(v) for v in values):
            ax.set_yscale("log")
        ax.set_ylabel(name, color=ink)
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(ink)
        ax.tick_params(which="both", colors=ink)
    first = numbers.get("first_non_finite")
    if first:
        for ax in (upper, lower):
            ax.axvline(first["step"], color=BROKEN, linestyle=":", linewidth=1)
        place = ", ".join(str(first[key]) for key in ("module", "op") if first.get(key))
        upper.annotate(
            f"step {first['step']}: first non-finite number\n{place}".strip(),
            xy=(first["step"], 0.97), xycoords=("data", "axes fraction"), xytext=(6, 0), textcoords="offset points",
            va="top", color=BROKEN, fontsize=9,
        )  # fmt: skip
    lost = [step for step, value in enumerate((numbers.get("broken") or {}).get("losses", ()), 1) if value != value]
    if lost:
        # along the bottom, below all curves: there is nothing to draw from here on
        floor = upper.get_xaxis_transform()
        upper.plot(
            [lost[0], lost[-1]], [0.02, 0.02], transform=floor, color=BROKEN, linewidth=2.5, solid_capstyle="butt"
        )
        upper.text(lost[0], 0.045, "  loss is nan", transform=floor, color=BROKEN, fontsize=9)
    upper.legend(frameon=False, loc="best", labelcolor=ink)
    lower.set_xlabel("optimizer step", color=ink)


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
    drawn = io.BytesIO()
    picture(numbers, title).savefig(drawn, format=path.suffix.lstrip("."), dpi=130, **extra)
    write_atomic(path, drawn.getvalue())
    return path
