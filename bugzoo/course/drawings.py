"""What an author writes in a [draw] cell, and which mistakes are reported.

    # Draw the loss on this batch.
    #
    # step: 1, 60, 200                 three to five points of the x-axis: five where a curve bends twice
    # loss (nats): 0.0001 to 1, log    and the y-axis; `, log` may follow either

The text may have several lines. A label carries its unit.
"""

import math
import re
from dataclasses import dataclass
from itertools import pairwise

from bugzoo.errors import UserError

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
"""A number as an author writes it: a decimal point, no thousands separators."""
COUNTS = {3: "three", 4: "four", 5: "five"}
"""How many points a drawing may have."""
_X_AXIS = re.compile(rf"(\S[^:]*): *({NUMBER}(?:, *{NUMBER})+)(, *log)?\s*")
_Y_AXIS = re.compile(rf"(\S[^:]*): *({NUMBER}) to ({NUMBER})(, *log)?\s*")


@dataclass(frozen=True)
class Axis:
    """One axis of a drawing. `label`: with its unit, as in "loss (nats)"."""

    label: str
    low: float
    high: float
    log: bool


@dataclass(frozen=True)
class Drawing:
    """A curve to draw through three to five points. `points`: their x-values, rising."""

    text: str
    points: tuple[float, ...]
    x: Axis
    y: Axis


def is_axis(line: str) -> bool:
    """Return whether a line gives one of the two axes."""
    return bool(_X_AXIS.fullmatch(line) or _Y_AXIS.fullmatch(line))


def read_drawing(text: str, where: str) -> Drawing:
    """Parse the text of a [draw] cell. Raises UserError that begins with `where`."""
    lines = [line for line in text.splitlines() if line.strip()]
    # the last two lines
    x, y = ([part for line in lines[-2:] if (part := form.fullmatch(line))] for form in (_X_AXIS, _Y_AXIS))
    if len(x) != 1 or len(y) != 1 or len(lines) < 3:
        advice = "End it with `step: 1, 60, 200` and `loss (nats): 0.0001 to 1, log`."
        raise UserError(f"{where}: a drawing needs a text and two axes. {advice}")
    points = tuple(map(float, x[0][2].split(",")))
    if len(points) not in COUNTS:
        raise UserError(f"{where}: a drawing has 3 to 5 points on the x-axis, this one has {len(points)}.")
    if any(left >= right for left, right in pairwise(points)):
        raise UserError(f"{where}: the {COUNTS[len(points)]} points of the x-axis must rise, these are {x[0][2]}.")
    x_axis = Axis(x[0][1].strip(), points[0], points[-1], bool(x[0][3]))
    axes = (x_axis, Axis(y[0][1].strip(), float(y[0][2]), float(y[0][3]), bool(y[0][4])))
    for axis in axes:
        if not axis.low < axis.high or not all(map(math.isfinite, (axis.low, axis.high))):
            raise UserError(f"{where}: the axis {axis.label} goes from {axis.low:g} to {axis.high:g}. It must rise.")
        if axis.log and axis.low <= 0:
            advice = f"Begin {axis.label} above 0, or omit `log`."
            raise UserError(f"{where}: a logarithmic axis has no {axis.low:g}. {advice}")
    return Drawing(" ".join(line.strip() for line in lines[:-2]), points, *axes)
