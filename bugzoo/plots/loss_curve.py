"""The loss over the steps, with ln C and the first non-finite step. A healthy twin may be drawn behind it."""

import math
from typing import Any

import numpy as np

from bugzoo.plots._labels import end_labels, mark, reference
from bugzoo.plots._palette import HEALTHY, THIS_RUN
from bugzoo.plots._style import absent, column, curve, prepare, trace_of

FAR = 10
"""A loss smaller by this factor has another unit or is long converged: beside the line it would look flat."""


def draw(data: Any, ax: Any, twin: Any = None) -> None:
    """Draw from `data` and `twin`, which are Runs or Traces."""
    trace = trace_of(data)
    prepare(ax, "Loss", "step", "loss")
    if trace is None or not np.isfinite(column(trace.loss)).any():
        absent(ax, "no finite loss was recorded")
        return
    if twin is not None:
        curve(ax, trace_of(twin).step, trace_of(twin).loss, "healthy", HEALTHY, "--")
    curve(ax, trace.step, trace.loss, "this run", THIS_RUN)
    classes = trace.graph.classes or 0
    largest = np.nanmax(np.where(np.isfinite(column(trace.loss)), column(trace.loss), np.nan))
    if classes > 1 and largest > math.log(classes) / FAR:
        reference(ax, math.log(classes), f"guessing: ln {classes}")
    event = trace.first_non_finite()
    if event is not None:
        mark(ax, event.step, f"first non-finite: step {event.step}")
    end_labels(ax)
