"""Colors and line styles for color-blind readers, on a light and on a dark page."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bugzoo.running.reading import Reading

# Okabe and Ito, "Color Universal Design" (2008), without black and yellow: each vanishes on one of the two pages
BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"
GREY = "#8a8a8a"
"""For text and axes: contrast of at least 3 : 1 on white and on JupyterLab's dark page."""
THIS_RUN, ITS_TWIN = RED, BLUE
"""As in the live plot: this run is vermilion, and the healthy twin behind it is blue."""
STYLES = ("-", "--", "-.", ":")


def prepare(ax: Any, title: str, xlabel: str = "", ylabel: str = "") -> None:
    """Make the axes transparent with gray text, so that the page shows through."""
    ax.set_facecolor("none")
    if ax.figure is not None:
        ax.figure.patch.set_alpha(0.0)
    ax.set_title(title, color=GREY, fontsize=10)
    ax.set_xlabel(xlabel, color=GREY)
    ax.set_ylabel(ylabel, color=GREY)
    ax.tick_params(which="both", colors=GREY)  # a short logarithmic axis has labels only at its minor ticks
    for side, spine in ax.spines.items():
        spine.set_color(GREY)
        spine.set_visible(side in ("left", "bottom"))


def see_through(figure: Any) -> Any:
    """Return the figure with a transparent background."""
    figure.patch.set_alpha(0.0)
    for ax in figure.axes:
        ax.set_facecolor("none")
    return figure


def absent(ax: Any, why: str) -> None:
    """Show one line of text instead of a plot."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, color=GREY, ha="center", va="center", wrap=True, transform=ax.transAxes)


def legend(ax: Any) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, labelcolor=GREY, fontsize=8)


def trace_of(data: Any) -> Any:
    """Return the Trace of a Run, or the Trace itself; None for plain numbers."""
    if isinstance(data, Mapping | Reading):
        return None
    return getattr(data, "trace", data)


def numbers_of(data: Any, instrument: str) -> dict[str, Any] | None:
    """Return measured numbers: `data` itself, or those of a Reading or a Run; None without any."""
    if not isinstance(data, Mapping | Reading):
        data = getattr(data, "readings", {}).get(instrument)
    numbers = data.numbers if isinstance(data, Reading) else data
    return dict(numbers) if numbers else None


def column(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=np.float64).reshape(-1)


def curve(ax: Any, x: Any, y: Any, label: str, colour: str, style: str = "-") -> bool:
    """Draw a line over the finite points; return False if no point is finite."""
    x, y = column(x), column(y)
    keep = np.isfinite(y) if len(x) == len(y) else np.zeros(len(y), dtype=bool)
    if not keep.any():
        return False
    ax.plot(x[keep], y[keep], style, color=colour, label=label, linewidth=1.4, marker="." if keep.sum() == 1 else None)
    return True


def bars(ax: Any, values: Mapping[str, float | None], limit: float | None = None, colour: str = THIS_RUN) -> bool:
    """Draw horizontal bars with numbers, the limit as a dashed line; return False if no value is finite."""
    finite = {key: float(value) for key, value in values.items() if value is not None and math.isfinite(float(value))}
    if not finite:
        return False
    places = np.arange(len(finite))[::-1]
    ax.barh(places, list(finite.values()), color=colour, alpha=0.85)
    ax.set_yticks(places, list(finite), color=GREY)
    for place, value in zip(places, finite.values(), strict=True):
        ax.text(value, place, f" {value:.3g}", color=GREY, va="center", fontsize=8)
    if limit is not None:
        ax.axvline(limit, color=GREY, linestyle="--", linewidth=1)
    return True
