"""A gradient that is never cleared, beside one that is: its length, and how far it moves the weights.

One column for each optimiser. Above the length of what lies in `.grad` at the step, below how far the step moves the weights,
relative to their size. Where the upper curve climbs and the lower one does not, the optimiser divides by the length.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bugzoo.plots._style import BLUE, GREY, ORANGE, column, curve, legend, prepare, trace_of

KEPT, CLEARED = ORANGE, BLUE


def measure(data: Any) -> dict[str, np.ndarray]:
    """From a Run or a Trace: step, length and move, one number a step; NaN where it was not recorded."""
    trace = trace_of(data)
    return {"step": column(trace.step), "length": column(trace.grad_norm), "move": column(trace.update_ratio)}


def picture(pairs: Mapping[str, tuple[Any, Any]]) -> Figure:
    """`pairs`: name of the optimiser -> (run that clears, run that never does)."""
    figure = Figure(figsize=(3.2 * len(pairs), 4.8), layout="constrained")
    figure.patch.set_alpha(0.0)
    axes = figure.subplots(2, len(pairs), squeeze=False, sharex=True, sharey="row")
    for place, (name, both) in enumerate(pairs.items()):
        cleared, kept = map(measure, both)
        upper, lower = axes[:, place]
        first = place == 0
        prepare(upper, name, "", "length of .grad at the step" if first else "")
        prepare(lower, "", "step", "move of a step / weights" if first else "")
        for ax, key in ((upper, "length"), (lower, "move")):
            curve(ax, kept["step"], kept[key], "never cleared", KEPT, "-")
            curve(ax, cleared["step"], cleared[key], "cleared", CLEARED, "--")
            ax.set_yscale("log")
        typical = float(np.nanmedian(cleared["length"][:20]))
        upper.plot(kept["step"], typical * kept["step"], ":", color=GREY, linewidth=1.6, label="step × one batch's")
        if first:
            legend(upper)
    return figure
