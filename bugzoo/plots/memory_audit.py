"""Memory over the steps; a line that keeps rising is a leak."""

from typing import Any

from bugzoo.plots._palette import THIS_RUN
from bugzoo.plots._style import absent, bars, curve, numbers_of, prepare, trace_of


def draw(data: Any, ax: Any) -> None:
    """Draw MiB over the steps of a Run or Trace, or from numbers the graphs that were alive and kept."""
    trace = trace_of(data)
    if trace is not None:
        prepare(ax, "Memory", "step", "MiB")
        if curve(ax, trace.step, trace.memory_mib, "memory", THIS_RUN):
            return
    numbers = numbers_of(data, "memory_audit")
    prepare(ax, "Autograd graphs", "graphs")
    if not numbers or not bars(ax, {"alive": numbers.get("graphs_alive"), "kept": numbers.get("graphs_kept")}, 5):
        absent(ax, "memory was not recorded")
