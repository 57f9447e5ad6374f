"""Do all ranks make the same steps, on data of their own, with one average?

To the left: the loss of each rank; one line for several ranks means that all of them computed the same numbers. In the
middle: how far apart the parameters of the ranks are, zero at the bottom. To the right: the steps that each rank made.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bugzoo.diagnostics._tools import column
from bugzoo.diagnostics.numbers import optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.views import _bars, _draw
from bugzoo.views._seen import Seen

ORDER = (
    "rank_check", "steps_apart", "unfinished", "ended", "rank_check.spread", "first_parameter_spread",
    "rank_check.parameter_spread", "rank_check.loss_factor",
)  # fmt: skip
MOST = 120
"""Points of a rank's curve."""
ZERO, LOW = 1e-9, 1e-8
"""Where the logarithmic axis has its zero, and its smallest other value."""


@dataclass(kw_only=True)
class Numbers(Seen):
    """Lists with an entry for each rank, but the last two: one for each step at which parameters were measured."""

    steps_apart: float | None = optional("steps between these two", (0, 0))
    unfinished: float | None = optional("ranks that did not reach the end", (0, 0))
    ended: str | None = optional("where each rank is at the end")
    first_parameter_spread: float | None = optional("distance of the ranks' parameters at the first step", (0, 1e-5))
    steps: list[float] = field(default_factory=list)
    at: list[list[float]] = field(default_factory=list)
    losses: list[list[float]] = field(default_factory=list)
    norm_steps: list[float] = field(default_factory=list)
    parameter_spreads: list[float] = field(default_factory=list)


def measure(run: Run) -> Numbers:
    """Losses and steps of each rank, and the distance of their parameters. Raises NotApplicable for one rank."""
    if len(run.ranks) < 2:
        raise NotApplicable("the script runs on one rank")
    traces = [rank.trace for rank in run.ranks]
    counts = [len(column(trace.step)) for trace in traces]
    rows = [np.arange(0, count, -(-count // MOST) or 1) for count in counts]
    steps, spread = _parameters(traces)
    return Numbers(
        steps=[float(count) for count in counts],
        at=[column(trace.step)[places].tolist() for trace, places in zip(traces, rows, strict=True)],
        losses=[column(trace.loss)[places].tolist() for trace, places in zip(traces, rows, strict=True)],
        steps_apart=float(max(counts) - min(counts)),
        unfinished=float(sum(trace.outcome not in ("finished", "non_finite") for trace in traces)),
        ended="; ".join(f"{rank}: {_place(trace, rank)}" for rank, trace in enumerate(traces)),
        norm_steps=steps,
        parameter_spreads=spread,
        first_parameter_spread=spread[0] if spread else math.nan,
    )


def _parameters(traces: list[Any]) -> tuple[list[float], list[float]]:
    """Return the steps at which all ranks' parameters were measured, and their largest relative distance there."""
    sizes = [np.asarray(trace.param_norm, dtype=np.float64) for trace in traces]
    if any(table.ndim != 2 or not table.size for table in sizes) or len({table.shape[1] for table in sizes}) > 1:
        return [], []
    rows = min(map(len, sizes))
    norms = np.stack([table[:rows] for table in sizes])  # (ranks, measured steps, parameters)
    spread = (np.ptp(norms, axis=0) / (np.abs(norms).mean(axis=0) + 1e-30)).max(axis=1)
    keep = np.isfinite(spread)
    return column(traces[0].param_norm_step)[:rows][keep].tolist(), spread[keep].tolist()


def _place(trace: Any, rank: int) -> str:
    """Return where a rank is: at the end, at an error, or in the call of the script's line in which it waits."""
    error = dict(trace.error or {})
    if trace.outcome in ("finished", "non_finite"):
        return "finished"
    at = f"line {error['line']}" if error.get("line") else "no line of the script"
    if trace.outcome == "crashed":
        return f"{error.get('type') or 'error'}, {at}"
    stack, inner = error.get("stacks", {}).get(str(rank), []), ""
    for frame in stack:  # the innermost first: what remains is the call nearest to the script
        if frame.startswith(f'File "{error.get("file")}"'):
            break
        name = frame.rpartition(" in ")[2]
        inner = inner if name == "wrapper" else name
    return f"{inner or 'running'}, {at}"


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the losses, the distance of the parameters, and the steps."""
    losses, distance, steps = figure.subplots(1, 3, width_ratios=(1.6, 1.3, 1))
    for ax, ylabel in ((losses, "loss"), (distance, "parameters of the ranks,\nrelative distance")):
        _draw.prepare(ax, "", "optimizer step", ylabel)
    curves = enumerate(zip(numbers.at, numbers.losses, strict=True))
    lines = [_draw.line(losses, x, y, f"rank {rank}", rank + 1, _draw.STYLES[rank % 4]) for rank, (x, y) in curves]
    for rank, curve in enumerate(losses.lines):  # the first one is wide, so that an equal one on top leaves it visible
        curve.set_linewidth(3.0 if rank == 0 else 1.2)
        curve.set_alpha(0.6 if rank == 0 else 1.0)
    if any(lines):
        low, high = losses.get_ylim()
        losses.set_ylim(min(0.0, low), high + 0.1 * abs(high))  # a loss of a few steps does not fill the axis
        losses.xaxis.get_major_locator().set_params(integer=True)
        _draw.end_labels(losses)
    else:
        _draw.absent(losses, "no rank made a step")
    _distance(distance, numbers)
    _draw.prepare(steps, "", "steps made")
    if not _bars.bars(steps, {f"rank {rank}": count for rank, count in enumerate(numbers.steps)}, 1):
        _draw.absent(steps, "one rank")


def _distance(ax: Any, numbers: Numbers) -> None:
    """Draw the distance of the ranks' parameters on a logarithmic axis that has a place for zero."""
    x, y = numbers.norm_steps, [max(spread, LOW) if spread else ZERO for spread in numbers.parameter_spreads]
    if not x:
        _draw.absent(ax, "parameters of all ranks\nwere not measured")
        return
    ax.set_yscale("log")
    _draw.band(ax, ZERO / 3, 1e-5)
    ax.plot(x, y, "o-", color=_draw.THIS_RUN, linewidth=1.2, markersize=4)
    ax.set_ylim(ZERO / 3, 3.0)
    ax.set_yticks([ZERO, 1e-7, 1e-5, 1e-3, 0.1], ["exactly 0", "1e-7", "1e-5", "1e-3", "0.1"])
    ax.minorticks_off()
    ax.set_xlim(left=0)
    _draw.legend(ax)
