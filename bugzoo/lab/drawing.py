"""A prediction that is drawn: a curve through three to five points, set before the run and laid under the real curve after it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bugzoo import device, record
from bugzoo.course import drawings
from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless
from bugzoo.lab.number import number, references
from bugzoo.lab.quiz_widgets import plain, show_lines

Curve = tuple[np.ndarray, np.ndarray]
"""(x, y) of a measured curve."""


@dataclass
class Drawing:
    """What the learner draws. `said`: one y-value for each point, empty before a guess; they may change until reveal()."""

    asked: drawings.Drawing
    key: str = ""
    said: tuple[float, ...] = ()
    revealed: bool = False
    curves: dict[str, Curve] = field(default_factory=dict)
    reference: dict[str, float] = field(default_factory=dict)
    face: Any = None

    def __post_init__(self) -> None:
        entry = (record.kept("drawing", self.key) if self.key else None) or {}
        if not self.said and entry.get("at") == list(self.asked.points):  # else it was made for another axis
            guess = tuple(height for height in entry.get("said") or () if isinstance(height, int | float))
            if len(guess) == len(self.asked.points) and all(
                self.asked.y.low <= height <= self.asked.y.high for height in guess
            ):
                self.said, self.revealed = guess, bool(entry.get("revealed"))  # a guess before the result stays

    def say(self, *values: Any) -> str:
        """Save a guess: the y-values at the points. Return the reply. Raises UserError for other values."""
        axis, points = self.asked.y, self.asked.points
        if len(values) != len(points):
            raise UserError(
                f"A guess has {len(points)} values, at {self.places()}; you gave {len(values)}. Nothing was saved."
            )
        read = tuple(map(number, values))
        if beyond := [height for height in read if not axis.low <= height <= axis.high]:
            raise UserError(
                f"{axis.label} goes from {axis.low:g} to {axis.high:g} here, and {beyond[0]:g} is outside. "
                "Choose a value in that range; nothing was saved."
            )
        if self.revealed:
            return "You have already seen the result. What you drew before it stays."
        self.said = read
        self._keep()
        return f"Saved: {', '.join(f'{height:.3g}' for height in read)}. The cell with the result comes back to it."

    def reveal(
        self, x: Any, y: Any = None, name: str = "this run", reference: Mapping[str, float] | None = None
    ) -> None:
        """Show a measured curve over the drawn line, with one sentence; call it after the run.

        `x`, `y`: numbers of equal count, or `x` is a dictionary, name -> (x, y). `reference`: name -> y to compare with.
        Each call adds to the picture. Raises UserError for anything else, before anything is shown.
        """
        compared = references(reference, self.asked.y.log)
        curves = {name: (x, y)} if not isinstance(x, Mapping) else dict(x)
        self.curves |= {str(key): _curve(str(key), pair) for key, pair in curves.items()}
        self.reference |= compared
        self.revealed = True
        self._keep()
        if self.face is not None:
            self.face.lock()
        from bugzoo.lab import show_figure
        from bugzoo.lab.drawing_picture import figure

        place, _ = device.places(device.used(), device.used())
        curves = {f"{name}{place}": curve for name, curve in self.curves.items()}
        show_figure(figure(self.asked, self.said, curves, self.reference))
        show_lines([self.told()])

    def told(self) -> str:
        """Return the sentence that compares the middle point with the curves."""
        middle = len(self.asked.points) // 2
        at, where = self.asked.points[middle], self.places(middle)
        values = [f"{_value(curve, at)}" + f" ({name})" * (len(self.curves) > 1) for name, curve in self.curves.items()]
        was = " and ".join(filter(None, [", ".join(values[:-1]), *values[-1:]]))
        if not self.said:
            return f"You drew nothing before the run. At {where} it was {was}."
        return f"At {where} you drew {self.said[middle]:.3g}; it was {was}."

    def places(self, only: int | None = None) -> str:
        """Return the points in words: "step 1, 60 and 200"; `only`: one of them, "step 60"."""
        name, unit = self.name_and_unit()
        points = [f"{point:,g}" for point in self.asked.points]
        where = f"{', '.join(points[:-1])} and {points[-1]}" if only is None else points[only]
        return f"{name} {where}{unit}"

    def name_and_unit(self) -> tuple[str, str]:
        """Return what the x-axis is, and the unit that follows a number of it: ("time", " s") or ("step", "")."""
        name, unit = re.fullmatch(r"(.+?)(?: \((.+)\))?", self.asked.x.label).groups()  # type: ignore[union-attr]
        return name, f" {unit}" if unit else ""

    def _keep(self) -> None:
        if self.key:
            value = {"said": list(self.said), "at": list(self.asked.points), "revealed": self.revealed}
            record.keep("drawing", self.key, value)

    def show(self) -> "Drawing":
        """Show the plot with its sliders, or the question as text without a front end."""
        if headless():
            print(self.text())
            return self
        from bugzoo.lab.drawing_widgets import Face

        self.face = Face(self)
        return self

    def text(self) -> str:
        """Return the question, and what to type."""
        axis = self.asked.y
        middle = (axis.low * axis.high) ** 0.5 if axis.log else (axis.low + axis.high) / 2
        count = len(self.asked.points)
        example = ", ".join([f"{middle:.3g}"] * count)
        return (
            f"{plain(self.asked.text)}\n  {axis.label} at {self.places()}, from {axis.low:g} to {axis.high:g}"
            f"\n  call say({example}), with your {drawings.COUNTS[count]} values, before you run the cell with the result"
        )

    def __repr__(self) -> str:
        return f"<Drawing {self.key or self.asked.text[:30]!r}: {', '.join(f'{height:.3g}' for height in self.said) or 'open'}>"


def _curve(name: str, pair: Any) -> Curve:
    """Return a curve as two arrays. Raises UserError."""
    try:
        x, y = (np.asarray(column, dtype=np.float64).reshape(-1) for column in pair)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UserError(f"The curve {name!r} is not numbers x and y: {error}. Pass two lists of numbers.") from None
    if len(x) != len(y):
        raise UserError(f"The curve {name!r} has {len(x)} x-values and {len(y)} y-values. Pass as many of each.")
    return x, y


def _value(curve: Curve, at: float) -> str:
    """Return the curve's value at a point, in words where there is no number; between two points on the line."""
    x, y = curve
    if not len(x) or not x.min() <= at <= x.max():
        return "not measured there"
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    exact = y[x == at]
    value = float(exact[-1]) if len(exact) else float(np.interp(at, x, y))
    return f"{value:.3g}" if math.isfinite(value) else f"{value}"
