"""How long is each tensor's gradient, and what happens to it between backward() and the step?

The script's own loop body is repeated on its first batch: one point for each tensor at each moment. A tensor without a
point at a moment has no gradient there, or exactly zero.
"""

from typing import Any

from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.views import _draw, _moments, _tensors
from bugzoo.views.row import Row

ROWS = (
    Row("gradient_health.total_norm", "norm of all gradients together, median over the steps"),
    Row("gradient_health.growth", "norm of all gradients together, late over early", (0, 50)),
    Row("gradient_health.first_over_last", "gradient norm of the first trained layer over the last", (1e-4, 1e4)),
    Row("without", "trainable tensors without a gradient", (0, 0)),
    Row("zero", "trainable tensors whose gradient is exactly 0", (0, 0)),
    Row("gradient_health.largest_norm", "norm of all gradients together, largest of a step", "a few times the median"),
    Row("fresh_gradient.stale_share", "share of steps that begin with a gradient other than 0", (0, 0.1)),
    Row("fresh_gradient.leftover", "norm left before backward(), over the norm at the step", (0, 0.01)),
    Row("fresh_gradient.empty_share", "share of steps with no gradient, or one that is 0", (0, 0.05)),
    Row("fresh_gradient.backwards_per_step", "backward() calls per step"),
    Row("clip_rate.limit", "limit of clipping"),
    Row("clipped_at", "place of clipping in the picture's order, from 1", (3, 3)),
    Row("clip_rate.bites_share", "share of steps clipped to the limit", "a few percent"),
    Row("clip_rate.over_share", "share of steps with a gradient above the limit", (0, 0.01)),
    Row("clip_rate.times_over", "gradient norm before clipping over the limit, first batch", (0, 10)),
    Row("clip_rate.cosine", "cosine between the gradients before and after clipping", (0.99, 1.01)),
    Row("loss_scale.scale", "loss scale at the end"),
    Row("loss_scale.rise", "largest factor between the loss scales of two steps", (1, 2)),
    Row("loss_scale.underflow_share", "share of gradient elements that float16 rounds to 0", (0, 0.05)),
    Row("loss_scale.overflow_share", "share of gradient elements not finite in float16", (0, 0)),
)


def measure(run: Run) -> dict[str, Any]:
    """Norms of each tensor, at each moment of a repeated step and as medians over the run."""
    tensors = _tensors.of(run)
    trainable = [one for one in tensors if one.trainable]
    numbers: dict[str, Any] = {
        "names": [one.name for one in tensors],
        "typical": [one.gradient for one in tensors],
        "without": float(sum(one.reached is False for one in trainable)),
        "zero": float(sum(one.gradient == 0 for one in trainable)),
    }
    try:
        order, found = _moments.norms(run, _tensors.live(run, tensors))
        numbers |= {"moments": order, "norms": [found[moment] for moment in order]}
        if _moments.MOMENTS[2] in order:
            numbers["clipped_at"] = 1.0 + order.index(_moments.MOMENTS[2])
    except NotApplicable as why:
        numbers["not_repeated"] = str(why)
    return numbers


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw a line of points for each moment over the tensors."""
    ax = _draw.axes(figure, "", "gradient norm")
    names = numbers.get("names", [])
    norms = dict(zip(numbers.get("moments", ()), numbers.get("norms", ()), strict=True)) or {
        "median over the steps": numbers.get("typical", [])
    }
    drawn = [_draw.points(ax, values, moment, place) for place, (moment, values) in enumerate(norms.items())]
    if not any(drawn):
        _draw.absent(ax, "no tensor has a gradient other than zero")
        return
    ax.set_yscale("log")
    _draw.decades(ax, [value for values in norms.values() for value in values])
    _draw.tensor_names(ax, names)
    _draw.legend(ax)
