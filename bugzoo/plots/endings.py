"""How runs end: the last losses before the first that is not finite, one run beside the other.

A divergence climbs over several steps before it overflows. A cliff does not: the last finite loss looks like those before
it. Then no setting of the training is the first suspect, but an operation outside its domain.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bugzoo.plots import _style
from bugzoo.plots._labels import mark
from bugzoo.plots._palette import colors_of

SHOWN = 12
"""Finite losses that are shown of each run."""


def measure(losses: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return (steps from 1, losses) of the last finite losses before the first that is not, or before the end."""
    values = np.asarray(losses, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    end = int(bad[0]) if len(bad) else len(values)
    first = max(0, end - SHOWN)
    return np.arange(first + 1, end + 1), values[first:end]


def picture(runs: Mapping[str, Sequence[float]]) -> Any:
    """Return the figure: one plot for each run, name -> losses, with a logarithmic axis of one ratio for all."""
    figure, colors = _style.figure(2.6, 4 * len(runs)), colors_of(runs)
    lines = {name: measure(losses) for name, losses in runs.items()}
    ratio = max(values.max() / values.min() for _, values in lines.values())
    for ax, (name, (steps, values)) in zip(figure.subplots(1, len(runs), squeeze=False)[0], lines.items(), strict=True):
        _style.prepare(ax, name, "step", "loss, logarithmic")
        ax.plot(steps, values, color=colors[name], marker="o", markersize=4, linewidth=1.4)
        ax.set_yscale("log")
        middle = np.sqrt(values.max() * values.min())
        ax.set_ylim(middle / ratio**0.6, middle * ratio**0.6)
        mark(ax, steps[-1] + 1, "no finite loss")
    return figure
