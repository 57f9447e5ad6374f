"""The look of axes on a light and on a dark page: sizes of pictures and of their text, bars, lines."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bugzoo.plots._palette import INK, THIS_RUN
from bugzoo.running.reading import Reading

DPI, WIDTH = 110, 7.0
"""Pixels an inch of a picture in a notebook, and inches of the widest one: a wider one would shrink, with its text."""
LEAST = 11
"""Pixels of the smallest text."""
TEXT, TITLE = LEAST * 72 / 96, 9.5
"""Points. `LEAST` pixels as SVG, at 96 pixels an inch; more in a notebook, where a page may show it at 87 %."""


def figure(height: float, width: float = WIDTH) -> Any:
    """Return a figure with a transparent background, created without pyplot, so that none stays open."""
    from matplotlib.figure import Figure

    return dress(Figure(figsize=(min(width, WIDTH), height), layout="constrained"))


def dress(figure: Any) -> Any:
    """Return the figure with a transparent background, with black as `INK`, and no text smaller than `TEXT`."""
    from matplotlib.colors import same_color
    from matplotlib.text import Text

    figure.patch.set_alpha(0.0)
    for ax in figure.axes:
        ax.set_facecolor("none")
        for axis, ticks in (("x", ax.get_xticklabels()), ("y", ax.get_yticklabels())):
            small = {"labelsize": TEXT} if any(tick.get_fontsize() < TEXT for tick in ticks) else {}
            black = {"colors": INK} if any(same_color(tick.get_color(), "black") for tick in ticks) else {}
            ax.tick_params(axis=axis, which="both", **small, **black)
        for spine in ax.spines.values():
            if same_color(spine.get_edgecolor(), "black"):
                spine.set_color(INK)
    for text in figure.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), TEXT))
        if same_color(text.get_color(), "black"):
            text.set_color(INK)
    return figure


def prepare(ax: Any, title: str, xlabel: str = "", ylabel: str = "") -> None:
    """Make the axes transparent with gray text, so that the page shows through."""
    ax.set_facecolor("none")
    if ax.figure is not None:
        ax.figure.patch.set_alpha(0.0)
    ax.set_title(title, color=INK, fontsize=TITLE)
    ax.set_xlabel(xlabel, color=INK, fontsize=TEXT)
    ax.set_ylabel(ylabel, color=INK, fontsize=TEXT)
    ax.tick_params(which="both", colors=INK, labelsize=TEXT)  # a short logarithmic axis has labels only at minor ticks
    for side, spine in ax.spines.items():
        spine.set_color(INK)
        spine.set_visible(side in ("left", "bottom"))


def absent(ax: Any, why: str) -> None:
    """Show one line of text instead of a plot."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, color=INK, fontsize=TEXT, ha="center", va="center", wrap=True, transform=ax.transAxes)


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


def curve(ax: Any, x: Any, y: Any, label: str, color: str, style: Any = "-") -> bool:
    """Draw a line over the finite points; return False if no point is finite."""
    x, y = column(x), column(y)
    keep = np.isfinite(y) if len(x) == len(y) else np.zeros(len(y), dtype=bool)
    if not keep.any():
        return False
    marker = "." if keep.sum() == 1 else None
    ax.plot(x[keep], y[keep], linestyle=style, color=color, label=label, linewidth=1.4, marker=marker)
    return True


def bars(ax: Any, values: Mapping[str, float | None], limit: float | None = None, color: str = THIS_RUN) -> bool:
    """Draw horizontal bars with numbers, the limit as a dashed line; return False if no value is finite."""
    finite = {key: float(value) for key, value in values.items() if value is not None and math.isfinite(float(value))}
    if not finite:
        return False
    places = np.arange(len(finite))[::-1]
    ax.barh(places, list(finite.values()), color=color, alpha=0.85)
    ax.set_yticks(places, list(finite), color=INK)
    for place, value in zip(places, finite.values(), strict=True):
        ax.text(value, place, f" {value:.3g}", color=INK, va="center", fontsize=TEXT)
    if limit is not None:
        ax.axvline(limit, color=INK, linestyle="--", linewidth=1)
    return True
