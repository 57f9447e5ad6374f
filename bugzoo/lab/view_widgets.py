"""The widgets of a live view: status line, picture, Run, Pause and Stop."""

import html
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from bugzoo.lab import summary
from bugzoo.lab.chart import Chart
from bugzoo.lab.engine import Point
from bugzoo.printable import printable

if TYPE_CHECKING:
    from bugzoo.lab.view import LiveView

WORDS = {
    "ready": "press Run",
    "unseen": "starts when you scroll here, or press Run",
    "waiting": "waiting for another run to end",
    "twin": "running the healthy twin first",
    "running": "running",
    "paused": "paused",
}
NO_CURVE = "bugzoo-no-curve"
"""The class of a view whose traceback stands in the place of the curve."""


class ViewWidgets:
    """The buttons only set flags and return at once, so they respond whatever the run does."""

    def __init__(self, view: "LiveView") -> None:
        self.view = view
        self._twin_drawn = False
        self.chart = Chart(reference=view.reference)
        self.status = w.HTML()
        self.run = w.Button(description="Run", icon="play", button_style="primary", tooltip="Train from the start")
        self.pause = w.Button(description="Pause", icon="pause", tooltip="Pause after this step, or resume")
        self.stop = w.Button(description="Stop", icon="stop", tooltip="End the run here and keep its steps")
        self.run.on_click(self._run)
        self.pause.on_click(self._pause)
        self.stop.on_click(lambda _: self.view.stop())
        self.box = w.VBox([self.status, self.chart.figure, w.HBox([self.run, self.pause, self.stop])])
        for name in ("bugzoo-live", "bugzoo-keys"):
            self.box.add_class(name)
        if view.case.job is not None:
            self.pause.tooltip = "This run has its own process, which cannot be paused; use Stop"
        self._label()

    def _run(self, _: Any) -> None:
        if self.view.state in ("ready", "ended"):  # one that waits to be seen starts by being asked
            self.view.start()

    def _pause(self, _: Any) -> None:
        if self.view.state == "paused":
            self.view.resume()
        elif self.view.state in ("running", "twin", "waiting"):
            self.view.pause()

    def _label(self, state: str = "ready", detail: str = "") -> None:
        words = WORDS.get(state, state)
        label = html.escape(self.view.case.label)
        self.status.value = f'<div class="bugzoo-status"><b>{label}</b> · {words}{detail}</div>'
        going = state in ("waiting", "twin", "running", "paused")
        self.run.disabled = going
        self.stop.disabled = not going
        self.pause.disabled = not going or self.view.case.job is not None
        self.pause.description, self.pause.icon = ("Resume", "play") if state == "paused" else ("Pause", "pause")

    def unseen(self) -> None:
        """Say that the run has not started yet."""
        self._label("unseen")

    # ---- called from the view's thread

    def started(self) -> None:
        self._twin_drawn = False
        self.box.remove_class(NO_CURVE)
        self.chart.clear()
        self.chart.places = dict(zip(("broken", "healthy"), self.view.case.places, strict=True))
        self._label("running")

    def update(self, which: str, points: list[Point] | None, twin_points: list[Point]) -> None:
        """Draw new points, or None if only the state may have changed."""
        if points is not None:
            if which == "broken" and not self._twin_drawn:
                self.chart.draw("healthy", twin_points)
                self._twin_drawn = True
            self.chart.draw(which, points)
            if which == "broken" and self.view.explain:
                self.chart.point_at(summary.first_bad(points))
        # not view.state: reading it lets a held run continue
        engine = self.view._engine if which == "broken" else self.view._twin
        state = "twin" if which == "healthy" else engine.state if engine else "ready"
        latest = points or (engine.points if engine else [])
        self._label("running" if state == "ended" else state, " · " + summary.last_number(latest) if latest else "")

    def ended(self) -> None:
        """Show how the run ended, and send the whole figure once more."""
        self._say_end()
        self.chart.all_again()
        for control in (self.status, self.run, self.pause, self.stop):
            control.send_state()

    def _say_end(self) -> None:
        view = self.view
        engine = view._engine
        run = engine.run if engine else None
        steps = len(engine.points) if engine else 0
        if engine and engine.failure is not None:
            self._label("ended", f": {html.escape(str(engine.failure))}")
            return
        if run is None:
            self._label("stopped before it began")
            return
        metrics = ", ".join(f"{name} {value:.3g}" for name, value in run.trace.metrics.items())
        detail = f" · validation {metrics}" if metrics else ""
        error = run.trace.error
        if summary.in_place_of_a_curve(engine.points if engine else [], run):
            self.box.add_class(NO_CURVE)
        if error:
            text = error.get("traceback") or f"{error.get('type')}: {error.get('message')}"
            detail += f"<pre>{html.escape(printable(text))}</pre>"
        if not view.explain and steps:
            detail = " · " + summary.last_number(engine.points if engine else [], ended=True) + detail
        self._label(summary.ending(run.outcome, steps, view.explain), detail)
