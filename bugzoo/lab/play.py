"""Sliders over a function of the notebook: each press of Run calls it with their values and shows what it draws."""

import html
import inspect
import math
import time
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless


class Play:
    """`call(**values)` with a slider for each of `ranges`: name -> (lowest, highest, start), whole numbers or fractions.

    It prints and draws; a figure that it returns is shown. Without a front end it is called once, with the starts. Raises
    UserError, before anything is called, for a range without a start inside it, and for parameters that do not fit.
    """

    def __init__(self, call: Callable[..., Any], **ranges: tuple[float, float, float]) -> None:
        for name, limits in ranges.items():
            _check(name, limits)
        _fits(call, ranges)
        self.call, self.ranges, self.calls = call, ranges, 0
        self.sliders: dict[str, Any] = {}

    @property
    def values(self) -> dict[str, float]:
        """Return the values that the next call gets."""
        return {name: self.sliders[name].value if self.sliders else limits[2] for name, limits in self.ranges.items()}

    def show(self) -> "Play":
        """Show the sliders and Run; without a front end call once."""
        if headless():
            starts = ", ".join(f"{name}={start:g}" for name, (_, _, start) in self.ranges.items())
            others = ", ".join(f"{name} from {low:g} to {high:g}" for name, (low, high, _) in self.ranges.items())
            print(f"{_name(self.call)}({starts})\n  call it with other values: {others}")
            self._show(self.call(**self.values))
            self.calls += 1
            return self
        import ipywidgets as w

        from bugzoo.lab import page

        self.sliders = {name: _slider(name, *limits) for name, limits in self.ranges.items()}
        self.button = w.Button(description="Run", icon="play", button_style="primary")
        self.told, self.shown = w.HTML(), w.Output()
        self.button.on_click(self._pressed)
        self.handle = page.put(page.form([*self.sliders.values(), self.button, self.told, self.shown]))
        page.keep(self.handle, "Run this cell for the sliders.")
        return self

    def _pressed(self, _: Any) -> None:
        self.button.disabled = True
        self.told.value = '<div class="bugzoo-status">running ...</div>'
        begin, error = time.monotonic(), ""
        self.shown.clear_output(wait=True)
        try:
            with self.shown:  # in a kernel it would show a traceback and swallow what is raised
                try:
                    self._show(self.call(**self.values))
                except Exception as raised:  # the function is the notebook's; its error belongs under the button
                    error = f"{type(raised).__name__}: {raised}"
        finally:
            self.button.disabled = False
            self.calls += 1
        message = error or f"{time.monotonic() - begin:.1f} s"
        self.told.value = f'<div class="bugzoo-status">{html.escape(message)}</div>'

    def _show(self, found: Any) -> None:
        if hasattr(found, "savefig"):
            from bugzoo import lab

            lab.picture(found)

    def __repr__(self) -> str:
        return f"<Play of {', '.join(self.ranges)}: {self.calls} runs>"


def _check(name: str, given: Any) -> None:
    """Raise UserError for a range that is not (lowest, highest, start)."""
    example = f"Write (lowest, highest, start), such as {name}=(1, 64, 8)."
    if not isinstance(given, tuple | list) or [_is_number(number) for number in given] != [True] * 3:
        raise UserError(f"{name}={given!r} is not a range of numbers. {example}")
    low, high, start = given
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UserError(
            f"{name} goes from {low:g} to {high:g}, and the first number is not below the second. {example}"
        )
    if not low <= start <= high:
        raise UserError(f"{name} starts at {start:g}, outside of its range {low:g} to {high:g}. {example}")


def _is_number(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


def _fits(call: Callable[..., Any], ranges: dict[str, Any]) -> None:
    """Raise UserError if it cannot be called with these names alone."""
    if not callable(call):
        raise UserError(f"`lab.play` takes a function, not {call!r}. Write the function's name without parentheses.")
    try:
        signature = inspect.signature(call)
    except ValueError:
        return  # some functions written in C do not tell their parameters
    try:
        signature.bind(**ranges)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "no parameters"
        raise UserError(
            f"{_name(call)} takes {takes}, and the ranges are for {', '.join(ranges) or 'none of them'}: {error}. "
            "Give a range to each parameter without a default, and to no other name."
        ) from None


def _name(call: Any) -> str:
    return getattr(call, "__name__", type(call).__name__)


def _slider(name: str, low: float, high: float, start: float) -> Any:
    """Return a slider that reaches both ends: in whole numbers if all three are whole, over decades if they are far apart."""
    import ipywidgets as w

    from bugzoo.lab.sliders import LABELS, WIDE, decades

    look = {"description": name.replace("_", " "), "layout": WIDE, "style": LABELS, "continuous_update": False}
    if all(isinstance(number, Integral) for number in (low, high, start)):
        return w.IntSlider(value=int(start), min=int(low), max=int(high), **look)
    low, high, start = float(low), float(high), float(start)
    if low > 0 and high / low >= 100:
        values = sorted({low, *decades(low, high, start), high})
        return w.SelectionSlider(options=[(f"{number:g}", number) for number in values], value=start, **look)
    return w.FloatSlider(value=start, min=low, max=high, step=(high - low) / 100, readout_format=".3g", **look)
