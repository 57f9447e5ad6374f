"""A broken run over its healthy twin: loss above, gradient norm below.

Read it from the left: while the curves lie on each other nothing has gone wrong yet; the step at which they part is
where to look. A cross marks the first number that was not finite.
"""

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bugzoo.files import write_atomic

# vermilion and light blue: told apart with every kind of colour vision, at least 3 : 1 on a white and on a dark page
BROKEN, HEALTHY = "#d55e00", "#4b98c9"


def _curve(ax: Axes, values: Sequence[float], colour: str, label: str, width: float) -> None:
    steps = range(1, len(values) + 1)
    shown = [value if math.isfinite(value) else math.nan for value in values]  # a gap where a number is not finite
    ax.plot(steps, shown, color=colour, linewidth=width, label=label)


def draw(
    numbers: Mapping[str, Any],
    upper: Axes,
    lower: Axes,
    ink: str = "black",
    names: tuple[str, str] = ("broken", "healthy"),
) -> None:
    """`numbers`: {"broken": {"losses", "grad_norms"} | None, "healthy": ..., "first_non_finite": {"step"} | None}.

    `ink`: the colour of text and axes; `names`: what the two are called.
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
        # along the floor, where no curve can be: from here on there is nothing to draw
        floor = upper.get_xaxis_transform()
        upper.plot(
            [lost[0], lost[-1]], [0.02, 0.02], transform=floor, color=BROKEN, linewidth=2.5, solid_capstyle="butt"
        )
        upper.text(lost[0], 0.045, "  loss is nan", transform=floor, color=BROKEN, fontsize=9)
    upper.legend(frameon=False, loc="best", labelcolor=ink)
    lower.set_xlabel("optimiser step", color=ink)


def picture(
    numbers: Mapping[str, Any], title: str = "", ink: str = "black", names: tuple[str, str] = ("broken", "healthy")
) -> Figure:
    """The figure, made without pyplot so that nothing is kept open."""
    figure = Figure(figsize=(8, 4.8), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    draw(numbers, upper, lower, ink, names)
    if title:
        figure.suptitle(title, fontsize=11, color=ink)
    return figure


def save(numbers: Mapping[str, Any], path: Path, title: str = "") -> Path:
    """Write the picture; the file's ending says in which format (.png, .svg, .pdf).

    Raises ValueError for an ending that matplotlib does not know and UserError when the file cannot be written.
    """
    # no date in the file: the same numbers give the same bytes
    extra: dict[str, Any] = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}
    drawn = io.BytesIO()
    picture(numbers, title).savefig(drawn, format=path.suffix.lstrip("."), dpi=130, **extra)
    write_atomic(path, drawn.getvalue())
    return path
