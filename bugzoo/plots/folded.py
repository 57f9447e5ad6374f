"""A loss cut into its epochs, which are laid on each other: whether what looks like noise comes back at the same place.

Noise of mixed batches has no place of its own: the epochs lie criss-cross. Where every epoch rises and falls at the same steps,
something in the order of the data does it, and the thick line through their mean shows which part of it.
"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from bugzoo.plots._style import GREY, ITS_TWIN, THIS_RUN, legend, prepare


def measure(loss: np.ndarray, steps: int) -> tuple[np.ndarray, float]:
    """((epochs, steps) losses without each epoch's mean, how much an epoch is like the one before it: -1 to 1).

    The first epoch, in which a model learns most, is left out; so is one that is not complete. Raises ValueError below three.
    """
    whole = np.asarray(loss, dtype=np.float64)
    epochs = whole[: len(whole) // steps * steps].reshape(-1, steps)[1:]
    if len(epochs) < 2:
        raise ValueError(f"{len(whole)} losses are fewer than three epochs of {steps} steps")
    epochs = epochs - epochs.mean(axis=1, keepdims=True)
    alike = [np.corrcoef(one, other)[0, 1] for one, other in pairwise(epochs)]
    return epochs, float(np.mean(alike))


def picture(losses: Mapping[str, np.ndarray], steps: int) -> Figure:
    """One panel for each run, the first one in the colour of what is looked at; an epoch has `steps` steps."""
    figure = Figure(figsize=(4.5 * len(losses), 3.4), layout="constrained")
    figure.patch.set_alpha(0.0)
    panels = figure.subplots(1, len(losses), sharey=True, squeeze=False)[0]
    for number, (ax, (name, loss)) in enumerate(zip(panels, losses.items(), strict=True)):
        epochs, alike = measure(loss, steps)
        prepare(
            ax, f"{name}: epochs alike {alike:.2f}", "step of the epoch", "" if number else "loss - its epoch's mean"
        )
        places = np.arange(1, steps + 1)
        for epoch in epochs:
            ax.plot(places, epoch, color=GREY, linewidth=0.8)
        colour, style = (ITS_TWIN, "--") if number else (THIS_RUN, "-")
        ax.plot(places, epochs.mean(axis=0), style, color=colour, linewidth=2.5, label="mean of the epochs")
        legend(ax)
    return figure
