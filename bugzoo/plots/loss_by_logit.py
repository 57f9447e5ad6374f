"""Losses and their slopes over the logit of the correct class, from sure and wrong to sure and correct.

The upper plot shows what one sample costs, with the steepest line cut off at the top. A loss that gets logits falls to 0,
and one that gets probabilities stops at its floor, the dashed line. The lower plot shows the size of the slope. Where it
is near 0 on the left, a sample that the model is sure and wrong about no longer changes the model.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bugzoo.plots import _style
from bugzoo.plots._labels import end_labels
from bugzoo.plots._palette import INK, STYLES, colors_of
from bugzoo.plots.slope import measure

WIDTHS = (3.2, 1.8, 1.8, 1.8)
"""The first loss is the thick one in the background: two of them can coincide for a while."""


def picture(losses: Mapping[str, Callable[[Any], Any]], end: float = 8.0, mark: float | None = None) -> Any:
    """Return the figure. `losses`: name -> loss (nats) of a float32 tensor of logits; the other logits are 0 in each.

    `end`: the logits go from -end to end; the value there is drawn as the floor. `mark`: a logit for a vertical line.
    """
    figure, colors = _style.figure(4.8), colors_of(losses)
    upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (3, 2)})
    _style.prepare(upper, "", "", "loss (nats)")
    _style.prepare(lower, "", "logit of the correct class minus the others", "size of the slope")
    x = np.linspace(-end, end, 321)
    floors: list[float] = []
    highest: list[float] = []
    for number, (name, loss) in enumerate(losses.items()):
        values, slopes = measure(loss, x)
        color, style, width = colors[name], STYLES[number % 4], WIDTHS[number % 4]
        for ax, y in ((upper, values), (lower, np.abs(slopes))):
            ax.plot(x, y, linestyle=style, color=color, linewidth=width, label=name)
        floor = float(values.min())
        highest.append(float(values.max()))
        if not any(abs(floor - other) < 0.01 for other in floors):
            floors.append(floor)
            upper.axhline(floor, color=INK, linestyle="--", linewidth=0.8)
            upper.text(1.06 * end, floor, f"floor {floor:.3f}", color=INK, fontsize=_style.TEXT, va="center")
    for ax in (upper, lower):
        if mark is not None:
            ax.axvline(mark, color=INK, linewidth=1)
    lower.set_xlim(-end, 1.04 * end)
    squeezed = sorted(highest)[-2] if len(highest) > 1 else highest[0]
    upper.set_ylim(-0.1 * squeezed, 2 * squeezed)  # the steepest line leaves the plot, or the floors would be one line
    end_labels(lower)
    return figure
