"""Loss and gradient norm around the first non-finite step."""

from typing import Any

from bugzoo.plots._labels import end_labels, mark
from bugzoo.plots._palette import SERIES, THIS_RUN
from bugzoo.plots._style import absent, curve, prepare, trace_of


def draw(data: Any, ax: Any, around: int = 20) -> None:
    """Draw `around` steps on either side. `data`: a Run or a Trace."""
    trace = trace_of(data)
    prepare(ax, "Around the first non-finite number", "step", "loss, gradient norm")
    event = trace.first_non_finite() if trace is not None else None
    if trace is None or event is None:
        absent(ax, "all losses and gradients are finite")
        return
    part = slice(max(0, event.step - 1 - around), event.step + around)
    curve(ax, trace.step[part], trace.loss[part], "loss", THIS_RUN)
    curve(ax, trace.step[part], trace.grad_norm[part], "gradient norm", SERIES[0], "--")
    mark(ax, event.step, f"step {event.step}")
    end_labels(ax)
