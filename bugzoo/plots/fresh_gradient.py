"""The gradient left from earlier batches when backward() began, as a share of the gradient at the step: 0 is fresh."""

from typing import Any

from bugzoo.plots._palette import INK, THIS_RUN
from bugzoo.plots._style import absent, bars, curve, numbers_of, prepare, trace_of


def draw(data: Any, ax: Any) -> None:
    """Draw the curve over the steps of a Run or Trace, or the shares from numbers."""
    trace = trace_of(data)
    if trace is not None:
        prepare(ax, "Gradient left over from earlier batches", "step", "left over / gradient at step")
        if curve(ax, trace.step, trace.leftover, "left over", THIS_RUN):
            ax.axhline(0, color=INK, linestyle=":", linewidth=1)
            return
    numbers = numbers_of(data, "fresh_gradient")
    prepare(ax, "Steps with stale gradients", "share of steps")
    if not numbers or not bars(ax, {"stale": numbers["stale_share"], "empty": numbers["empty_share"]}, 0.5):
        absent(ax, "leftover gradients were not recorded")
