"""What was already in the gradient when backward() began, as a share of the gradient at the step: 0 is fresh."""

from typing import Any

from bugzoo.plots._style import GREY, THIS_RUN, absent, bars, curve, numbers_of, prepare, trace_of


def draw(data: Any, ax: Any) -> None:
    """From a Run or Trace: over the steps. From numbers: the shares."""
    trace = trace_of(data)
    if trace is not None:
        prepare(ax, "Gradient left over from earlier batches", "step", "left over / gradient at step")
        if curve(ax, trace.step, trace.leftover, "left over", THIS_RUN):
            ax.axhline(0, color=GREY, linestyle=":", linewidth=1)
            return
    numbers = numbers_of(data, "fresh_gradient")
    prepare(ax, "Steps that follow old gradients", "share of steps")
    if not numbers or not bars(ax, {"stale": numbers["stale_share"], "empty": numbers["empty_share"]}, 0.5):
        absent(ax, "what was left in the gradients was not recorded")
