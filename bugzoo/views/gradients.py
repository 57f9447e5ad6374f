"""How long is each tensor's gradient, and what happens to it between backward() and the step?

The script's own loop body is repeated on its first batch: one point for each tensor at each moment. A tensor without a
point at a moment has no gradient there, or exactly zero.
"""

from dataclasses import dataclass
from typing import Any

from bugzoo.diagnostics.numbers import optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.views import _draw, _moments, _tensors
from bugzoo.views._seen import Seen

ORDER = (
    "gradient_health", "without", "zero", "gradient_health.largest_norm", "fresh_gradient", "clip_rate.limit",
    "clipped_at", "clip_rate", "loss_scale",
)  # fmt: skip


@dataclass(kw_only=True)
class Numbers(Seen):
    """Norms of each tensor: `typical` is the median over the steps; `norms`: at each of the `moments` of a step."""

    without: float | None = optional("trainable tensors without a gradient", (0, 0))
    zero: float | None = optional("trainable tensors whose gradient is exactly 0", (0, 0))
    clipped_at: float | None = optional("place of clipping in the picture's order, from 1", (3, 3))
    names: list[str] | None = None
    typical: list[float] | None = None
    moments: list[str] | None = None
    norms: list[list[float]] | None = None
    not_repeated: str | None = None
    """Why the step could not be repeated."""


def measure(run: Run) -> Numbers:
    """Norms of each tensor, at each moment of a repeated step and as medians over the run."""
    tensors = _tensors.of(run)
    trainable = [tensor for tensor in tensors if tensor.trainable]
    numbers = Numbers(
        names=[tensor.name for tensor in tensors],
        typical=[tensor.gradient for tensor in tensors],
        without=float(sum(tensor.reached is False for tensor in trainable)),
        zero=float(sum(tensor.gradient == 0 for tensor in trainable)),
    )
    try:
        moments, norms = _moments.norms(run, _tensors.live(run, tensors))
        numbers.moments, numbers.norms = moments, [norms[moment] for moment in moments]
        if _moments.MOMENTS[2] in moments:
            numbers.clipped_at = 1.0 + moments.index(_moments.MOMENTS[2])
    except NotApplicable as why:
        numbers.not_repeated = str(why)
    return numbers


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw a line of points for each moment over the tensors."""
    figure.set_size_inches(7.0, 2.4 + 0.05 * max(map(len, numbers.names or ()), default=0))  # the names stand below
    ax = _draw.axes(figure, "", "gradient norm")
    norms = dict(zip(numbers.moments or (), numbers.norms or (), strict=True))
    norms = norms or {"median over the steps": numbers.typical or []}
    visible = [_draw.points(ax, values, moment, place) for place, (moment, values) in enumerate(norms.items())]
    if not any(visible):
        _draw.absent(ax, "no tensor has a gradient other than zero")
        return
    ax.set_yscale("log")
    _draw.decades(ax.set_ylim, [value for values in norms.values() for value in values])
    _draw.tensor_names(ax, numbers.names or [])
    _draw.legend(ax)
