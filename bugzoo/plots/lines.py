"""Lines by role: the healthy twin is blue, the incident vermilion, a rival green, a repair pink. Their names tell it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bugzoo.plots import _labels, _style
from bugzoo.plots._palette import STYLES, colors_of

Curve = tuple[Any, Any]
"""(x, y), of equal length."""


def draw(ax: Any, curves: Mapping[str, Curve]) -> None:
    """Draw each curve, name -> (x, y), in the color of its role and in its own style; what is not finite is a gap.

    On a logarithmic axis so is what is not above 0.
    """
    colors, logs = colors_of(curves), (ax.get_xscale() == "log", ax.get_yscale() == "log")
    for place, (name, pair) in enumerate(curves.items()):
        x, y = (np.asarray(values, dtype=np.float64) for values in pair)
        gaps = [~np.isfinite(values) | ((values <= 0) & log) for values, log in zip((x, y), logs, strict=True)]
        look = {"color": colors[name], "linestyle": STYLES[place % len(STYLES)], "linewidth": 1.8}
        ax.plot(x, np.where(gaps[0] | gaps[1], np.nan, y), **look, label=name)


def picture(
    curves: Mapping[str, Curve],
    xlabel: str,
    ylabel: str,
    *,
    reference: Mapping[str, float] | None = None,
    log: bool = False,
) -> Any:
    """Return the figure. `reference`: name -> y to compare with; `log`: a logarithmic y-axis."""
    figure = _style.figure(3.2)
    ax = figure.subplots()
    _style.prepare(ax, "", xlabel, ylabel)
    ax.set_yscale("log" if log else "linear")
    draw(ax, curves)
    for name, value in (reference or {}).items():
        _labels.reference(ax, value, name)
    _labels.end_labels(ax)
    return figure
