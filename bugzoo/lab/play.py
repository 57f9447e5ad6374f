"""Sliders over a function of the notebook: each press of Run calls it with their values and shows what it draws."""

import html
import time
from collections.abc import Callable
from typing import Any

from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless


class Play:
    """`call(**values)` with a slider for each of `ranges`: name -> (lowest, highest, start), whole numbers or fractions.

    It prints and draws; a figure that it returns is shown. Without a front end it is called once, with the starts.
    """

    def __init__(self, call: Callable[..., Any], **ranges: tuple[float, float, float]) -> None:
        for name, (low, high, start) in ranges.items():
            if not low <= start <= high:
                raise UserError(f"{name} starts at {start:g}, outside of its range {low:g} to {high:g}.")
        self.call, self.ranges, self.calls = call, ranges, 0

    @property
    def values(self) -> dict[str, float]:
        """Return the values that the next call gets."""
        if headless():
            return {name: start for name, (_, _, start) in self.ranges.items()}
        return {name: slider.value for name, slider in self.sliders.items()}

    def show(self) -> "Play":
        """Show the sliders and Run; without a front end call once."""
        if headless():
            self._show(self.call(**self.values))
            return self
        import ipywidgets as w

        from bugzoo.lab import page, sliders

        self.sliders = {name: sliders.slider(name.replace("_", " "), start, low, high)
                        for name, (low, high, start) in self.ranges.items()}  # fmt: skip
        for name, slider in self.sliders.items():
            if isinstance(slider, w.IntSlider):
                slider.min, slider.max = int(self.ranges[name][0]), int(self.ranges[name][1])
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
            with self.shown:
                self._show(self.call(**self.values))
        except Exception as raised:  # the function is the notebook's; its error belongs under the button
            error = f"{type(raised).__name__}: {raised}"
        finally:
            self.button.disabled = False
            self.calls += 1
        done = error or f"{time.monotonic() - begin:.1f} s"
        self.told.value = f'<div class="bugzoo-status">{html.escape(done)}</div>'

    def _show(self, found: Any) -> None:
        if hasattr(found, "savefig"):
            from bugzoo import lab

            lab.picture(found)

    def __repr__(self) -> str:
        return f"<Play of {', '.join(self.ranges)}: {self.calls} runs>"
