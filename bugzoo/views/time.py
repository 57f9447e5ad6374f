"""Where does the time of a step go, and what interrupts it?

Above: the milliseconds of one step, in the order in which they pass; each part is the median over the steps. Below: how
often the script's own loop interrupts the work, counted while its body runs again on the first batch. Gray: usual counts.
"""

from typing import Any

from bugzoo.plots._style import BLUE, GREEN, ORANGE, PURPLE
from bugzoo.running.result import Run
from bugzoo.views import _bars, _draw
from bugzoo.views.row import Row

ROWS = (
    Row("step_timeline.data_ms", "data and all else before the forward pass (ms)"),
    Row("step_timeline.forward_ms", "forward pass with the loss (ms)"),
    Row("step_timeline.backward_ms", "backward pass (ms)"),
    Row("step_timeline.step_ms", "optimizer step (ms)"),
    Row("step_timeline.data_share", "share of a step before its forward pass", (0, 0.7)),
    Row("step_timeline.num_workers", "worker processes of the loader"),
    Row("step_timeline.idle_share", "share of the processors' time that was idle"),
    Row("host_syncs.syncs", "host syncs per forward pass", (0, 4)),
    Row("host_syncs.printed", "lines printed per step", (0, 1)),
    Row("transfers.batch_copies", "copies of the batch per forward pass", (0, 1.5)),
    Row("transfers.inside", "device changes inside a forward pass", (0, 0)),
    Row("backward_checks.checked_share", "share of backward passes that look for NaN", (0, 0)),
    Row("backward_checks.noted", "graphs at the end that store a stack per operation", (0, 0)),
    Row("compiled_graphs.breaks", "lines at which a compiled graph ends", (0, 0)),
    Row("compiled_graphs.versions", "compilations of one piece, for other shapes", (0, 4)),
)
PARTS = (("data", ORANGE, ""), ("forward", BLUE, "//"), ("backward", GREEN, ".."), ("step", PURPLE, "xx"))
NAMES = {"step": "optimizer"}
COUNTS = {
    "host syncs": "host_syncs.syncs",
    "copies of the batch": "transfers.batch_copies",
    "device changes inside": "transfers.inside",
    "searches for NaN": "backward_checks.checked_share",
    "ends of a compiled graph": "compiled_graphs.breaks",
    "lines printed": "host_syncs.printed",
}
LEAST = 5.0
"""The axis of counts reaches at least so far."""


def measure(run: Run) -> dict[str, Any]:
    """Return nothing: instruments measure all of it."""
    return {}


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the parts of a step, and below them the counts."""
    figure.set_size_inches(7.0, 3.2)
    timeline, counts = figure.subplots(2, 1, height_ratios=(1, 2.6))
    _timeline(timeline, numbers)
    _draw.prepare(counts, "", "times a step")
    usual = {row.source: row.range[1] for row in ROWS if row.range}
    if not _bars.bars(counts, _bars.known(numbers, COUNTS), LEAST, 1, {n: usual[key] for n, key in COUNTS.items()}):
        _draw.absent(counts, "the loop's body was not run again")


def _timeline(ax: Any, numbers: dict[str, Any]) -> None:
    """Draw one bar, in the order in which the parts happen."""
    _draw.prepare(ax, "", "ms a step")
    known = _bars.known(numbers, {name: f"step_timeline.{name}_ms" for name, _, _ in PARTS})
    if not known:
        _draw.absent(ax, "the times of a step were not recorded")
        return
    left = 0.0
    for name, colour, hatch in PARTS:
        width = known.get(name, 0.0)
        label = f"{NAMES.get(name, name)} {width:.3g}"
        ax.barh([0], [width], left=[left], color=colour, hatch=hatch, alpha=0.85, edgecolor=_draw.GREY, label=label)
        left += width
    ax.set_yticks([])
    ax.tick_params(axis="x", labelsize=7)
    ax.legend(frameon=False, labelcolor=_draw.GREY, fontsize=7, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
