"""Where does the time of a step go, and what interrupts it?

Above: the milliseconds of one step, in the order in which they pass; each part is the median over the steps. Below: how
often the script's own loop interrupts the work, counted while its body runs again on the first batch. Gray: usual counts.
"""

from typing import Any

from bugzoo.plots.step_timeline import PARTS
from bugzoo.views import _bars, _draw, rows
from bugzoo.views._seen import Seen, nothing

ORDER = ("step_timeline", "host_syncs", "transfers", "backward_checks", "compiled_graphs")
Numbers = Seen
measure = nothing
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


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the parts of a step, and below them the counts."""
    figure.set_size_inches(7.0, 3.2)
    timeline, counts = figure.subplots(2, 1, height_ratios=(1, 2.6))
    _timeline(timeline, numbers)
    _draw.prepare(counts, "", "times a step")
    usual = {row.source: row.range[1] for row in rows("time") if row.range}
    counted = _bars.known(numbers.instruments, COUNTS)
    if not _bars.bars(counts, counted, LEAST, {name: usual[key] for name, key in COUNTS.items()}):
        _draw.absent(counts, "the loop's body was not run again")


def _timeline(ax: Any, numbers: Numbers) -> None:
    """Draw one bar, in the order in which the parts happen."""
    _draw.prepare(ax, "", "ms a step")
    times = _bars.known(numbers.instruments, {name: f"step_timeline.{name}_ms" for name, _, _ in PARTS})
    if not times:
        _draw.absent(ax, "the times of a step were not recorded")
        return
    left = 0.0
    for name, color, hatch in PARTS:
        width = times.get(name, 0.0)
        label = f"{NAMES.get(name, name)} {width:.3g}"
        ax.barh([0], [width], left=[left], color=color, hatch=hatch, alpha=0.85, edgecolor=_draw.INK, label=label)
        left += width
    ax.set_yticks([])
    _draw.legend(ax, 4)
