"""The GradScaler's loss scale with its skipped steps; without a scaler, what fp16 loses."""

from typing import Any

from bugzoo.plots._palette import INK, THIS_RUN
from bugzoo.plots._style import absent, bars, curve, numbers_of, prepare, trace_of


def draw(data: Any, ax: Any) -> None:
    """Draw the loss scale of a Run or Trace with a scaler, otherwise the shares among the numbers."""
    trace = trace_of(data)
    if trace is not None:
        prepare(ax, "Loss scale", "step (dotted: a step that was skipped)", "loss scale")
        if curve(ax, trace.step, trace.scale, "scale", THIS_RUN):
            for event in trace.events:
                if event.kind == "skipped_step":
                    ax.axvline(event.step, color=INK, linestyle=":", linewidth=1)
            ax.set_yscale("log", base=2)
            return
    numbers = numbers_of(data, "loss_scale")
    prepare(ax, "Half precision", "share")
    keys = ("underflow_share", "overflow_share", "skipped_share")
    if not numbers or not bars(ax, {key.removesuffix("_share"): numbers.get(key) for key in keys}):
        absent(ax, "nothing ran in half precision")
