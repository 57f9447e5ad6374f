"""`LiveView`: a training run that you can watch, pause, inspect, repair and stop while it runs."""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bugzoo.errors import UserError
from bugzoo.lab import borders, healthy_twin, patching, summary
from bugzoo.lab.engine import Engine, Point
from bugzoo.lab.frontend import headless
from bugzoo.lab.number import references
from bugzoo.printable import printable
from bugzoo.running import Job, Run
from bugzoo.scenario import Scenario

REFRESH = 0.1
"""Seconds between two updates: a server drops messages that come too fast."""


class LiveView:
    """One live run at a time, with its healthy twin drawn behind it.

    `what`: a Scenario or a script's text; `healthy` gives a text its twin. `pace`: most steps per second, so that you can
    follow (0: no limit; default: 60 if shown). `pause_at`: pause after that step. `cap`: most steps without a front end
    (nbgrader, nbval, a plain script); the run then happens at once, or up to its pause, with a table and a picture.
    `job`: run a text in its own process. `explain=False`: numbers and pictures only; the first bad step and its operation
    are not marked. `reference`: name -> loss to compare with, such as {"ln 10": math.log(10)}; it is drawn as a line.
    """

    def __init__(
        self,
        what: Scenario | str,
        *,
        healthy: Scenario | healthy_twin.Curve | str | None = None,
        job: Job | None = None,
        explain: bool = True,
        show_twin: bool = True,
        pace: float | None = None,
        pause_at: int | None = None,
        cap: int = 1000,
        reference: Mapping[str, float] | None = None,
    ) -> None:
        self.reference = references(reference, log=True)
        self.case = healthy_twin.case_of(what, healthy, job)
        self.explain = explain
        self.show_twin, self.pace, self.pause_at, self.cap = show_twin, pace, pause_at, cap
        self.next_case: healthy_twin.TwinCase | None = None
        """The case of the next start(), set by a panel when a slider was moved during a run."""
        self.widgets: Any = None
        self._engine: Engine | None = None
        self._twin: Engine | None = None
        self._twin_points: list[Point] = []
        self._twin_run: Run | healthy_twin.Curve | None = None
        self._handle: Any = None
        self._shown = False
        self._unseen = False
        """Whether the run starts when a page has the plot in sight, or when a cell asks for it."""
        self._marks: list[tuple[int, str]] = []
        self._over = threading.Event()
        self._over.set()
        self.first_point_seconds: float | None = None
        """Seconds from start() to the first point sent to the front end."""

    # ---- called by the learner

    def show(self) -> "LiveView":
        """Show the view in the cell's output; does nothing without a front end."""
        self._shown = True
        borders.install()  # here a cell is running, unlike where a button or the page starts the run
        if not headless():
            from bugzoo.lab import page
            from bugzoo.lab.view_widgets import ViewWidgets

            self.widgets = self.widgets or ViewWidgets(self)
            self._handle = page.put(self.widgets.box)  # the picture of a finished run goes there
        return self

    def start_when_seen(self) -> "LiveView":
        """Start the run once the plot is on the screen, or at once without a front end.

        Until then Run starts it, and so does a cell that reads the view, as it cannot wait for a page.
        """
        if self.widgets is None:
            return self.start()
        self._unseen = True
        self.widgets.chart.on_seen = self._seen
        self.widgets.unseen()
        return self

    def _seen(self) -> None:
        if self._unseen:
            self.start()

    def start(self) -> "LiveView":
        """Start the run. Raises UserError while an earlier run is active."""
        self._unseen = False
        if not self._over.is_set():
            raise UserError(
                f"{self.case.label} is already running. Stop it first, with the Stop button or view.stop()."
            )
        self._over.clear()
        if self.next_case is not None:
            self.case, self.next_case = self.next_case, None
        self._twin_points, self._twin_run, self.first_point_seconds, self._marks = [], None, None, []
        wants_twin = self.show_twin and self.case.twin is not None
        cached = healthy_twin.known(self.case) if wants_twin else None
        if cached:
            self._twin_points, self._twin_run = cached
        quiet = headless()
        cap = self.cap if quiet else None
        self._twin = healthy_twin.engine(self.case, cap) if wants_twin and not cached else None
        pace = self.pace if self.pace is not None else 60 if self.widgets else 0
        self._engine = Engine(self.case.source, self.case.file, pace=pace, cap=cap, job=self.case.job)
        if quiet and self.pause_at is None:
            for engine in filter(None, (self._twin, self._engine)):
                engine.run_now()
            self._finish()
            if self._shown:
                self._print()
            return self
        self._engine.pause_step = self.pause_at
        if self.widgets:
            self.widgets.started()
        threading.Thread(target=self._follow, args=(time.monotonic(),), name="bugzoo-view", daemon=True).start()
        if quiet:
            self.wait_pause()
        return self

    def stop(self) -> None:
        """End the run; its trace so far is the result."""
        for engine in filter(None, (self._twin, self._engine)):
            engine.stop()

    def pause(self, at: int | None = None) -> None:
        """Pause after this step, or after step `at`; the live objects are in `view.objects`."""
        self._need().pause(at)

    def resume(self) -> None:
        """Continue the run."""
        self._need().resume()

    def advance(self, steps: int = 1) -> bool:
        """Run `steps` steps from a pause and pause again. Return False if the run ended first."""
        engine, reached = self._need(), len(self.points) + steps
        engine.advance(steps)
        while not self._over.is_set() and not (self.state == "paused" and len(self.points) >= reached):
            time.sleep(0.01)
        return self.state == "paused"

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the run has ended and is drawn. Return False if it is paused, or after `seconds`.

        Raises UserError if it waits for another run, which is paused.
        """
        self._seen()
        end = None if seconds is None else time.monotonic() + seconds
        try:
            while not self._over.wait(0.05):
                self._not_blocked()
                if self.state == "paused" or (end is not None and time.monotonic() > end):
                    return False
        except KeyboardInterrupt:
            self.stop()  # Ctrl-C ends the run; its steps so far are kept
            self._over.wait(10)
        return True

    def wait_pause(self, seconds: float = 60.0) -> bool:
        """Wait until the run has paused. Return False if it ended first, or after `seconds`. Raises like wait()."""
        self._seen()
        end = time.monotonic() + seconds
        while self.state != "paused" and not self._over.is_set() and time.monotonic() < end:
            self._not_blocked()
            time.sleep(0.02)
        return self.state == "paused"

    @property
    def state(self) -> str:
        """ready · waiting · twin (the healthy twin runs first) · running · paused · ended."""
        self._seen()
        return self._state()

    def _state(self) -> str:
        for engine in filter(None, (self._twin, self._engine)):
            engine.let_go()
        if self._engine is None:
            return "ready"
        if self._over.is_set():
            return "ended"
        if self._twin is not None and not self._twin.ended:
            return "twin"
        return "running" if self._engine.state in ("ready", "ended") else self._engine.state

    @property
    def result(self) -> Run:
        """The run, after waiting for its end. Raises UserError while it is paused or not started."""
        self._need()
        if not self.wait():
            raise UserError("The run is paused. Press Resume, or call view.resume() or view.stop().")
        engine = self._need()
        if engine.failure is not None:
            raise engine.failure
        if engine.run is None:
            raise UserError("The run was stopped before it started. Press Run or call view.start().")
        return engine.run

    @property
    def healthy(self) -> Run | healthy_twin.Curve | None:
        """The twin's run or recorded curve, once the view has ended; None without one."""
        self.wait()
        return self._twin_run

    @property
    def points(self) -> list[Point]:
        """(step, loss, gradient norm) so far."""
        self._seen()
        if self._engine is None:
            return []
        self._engine.let_go()  # a cell may poll until there are enough
        return list(self._engine.points)

    @property
    def objects(self) -> dict[str, Any]:
        """The script's variables: `view.objects["model"]`, `["optimizer"]`, `["inputs"]`. Use it during a pause."""
        return self._need().namespace

    def patch(self, source: str) -> list[str]:
        """Replace classes and functions of the paused run with those of `source`; parameters and optimizer stay.

        Returns the names that changed. Raises UserError if the run is not paused or other code differs.
        """
        if self.state != "paused":
            raise UserError("Pause the run first: view.pause(), or the Pause button.")
        names = patching.patch(self.objects, self.case.source, source, self.case.file)
        self.case.source = source
        if names:
            self.mark(len(self.points), "repaired")
        return names

    def mark(self, step: int, text: str) -> None:
        """Draw a line after a step of this run, with a note: in the plot, and in the picture that stays."""
        self._marks.append((step, text))
        if self.widgets:
            self.widgets.chart.add_mark(step, text)

    def restart(self, source: str | None = None) -> "LiveView":
        """Stop the run and start again, with another text if given."""
        self.stop()
        self._over.wait(10)
        if source is not None:
            self.case.source, self.case.job = (
                source,
                None if self.case.job is None else replace(self.case.job, source=source),
            )
        return self.start()

    def __repr__(self) -> str:
        points = list(self._engine.points) if self._engine else []  # shown by a cell's last line, which starts no run
        return f"<LiveView of {self.case.label}: {self._state()}, {summary.last_number(points)}>"

    # ---- inside

    def _not_blocked(self) -> None:
        if any(engine is not None and engine.blocked for engine in (self._twin, self._engine)):
            raise UserError(
                f"{self.case.label} waits for another run, which is paused. Press Resume or Stop there, or end every "
                "run with lab.stop_all(). Then this run starts by itself."
            )

    def _need(self) -> Engine:
        self._seen()
        if self._engine is None:
            raise UserError("Nothing has run yet. Press Run or call view.start().")
        return self._engine

    def _follow(self, begin: float) -> None:
        """Run the twin, then the case, and send new points to the front end ten times a second."""
        for which, engine in (("healthy", self._twin), ("broken", self._engine)):
            if engine is None:
                continue
            if which == "broken" and self._twin is not None:
                healthy_twin.keep(self.case, self._twin)
                self._twin_points, self._twin_run = self._twin.points, self._twin.run
            engine.start()
            count = 0
            while not engine.ended or count < len(engine.points):
                points = list(engine.points)
                if self.widgets:
                    self.widgets.update(which, points if len(points) > count else None, self._twin_points)
                    self.widgets.chart.validate(which, engine.validation)
                if points and self.first_point_seconds is None:
                    self.first_point_seconds = time.monotonic() - begin
                count = len(points)
                if not engine.ended:
                    # the first point is sent at once, the others at fixed intervals
                    engine._done.wait(REFRESH if count else 0.01)
        try:
            self._finish()
        finally:
            if self.widgets:
                self.widgets.ended()

    def _finish(self) -> None:
        if self._twin is not None:
            healthy_twin.keep(self.case, self._twin)
            self._twin_points, self._twin_run = self._twin.points, self._twin.run
        if self.widgets:
            self.widgets.chart.validate("healthy", summary.validation(self._twin_run))
            self.widgets.chart.validate("broken", summary.validation(self._need().run))
        try:
            if self._handle is not None:
                self._handle.update(self._bundle(), raw=True)
        finally:
            self._over.set()

    def _bundle(self) -> dict[str, Any]:
        engine = self._need()
        twin = self._twin_points, self._twin_run
        run_place, twin_place = places = self.case.places
        if error := summary.in_place_of_a_curve(engine.points, engine.run):
            return {"text/plain": error + summary.ending("crashed", len(engine.points), self.explain)}
        table = summary.text_table(engine.points, engine.run, *twin, explain=self.explain, places=places)
        bundle: dict[str, Any] = {"text/plain": table}
        if engine.points:
            label = self.case.label
            bundle["image/png"] = summary.picture(
                engine.points, engine.run, self._twin_points, label, explain=self.explain, marks=self._marks,
                twin=self._twin_run, names=(f"this run{run_place}", f"healthy{twin_place}"), reference=self.reference,
            )  # fmt: skip
        return bundle

    def _print(self) -> None:
        """Without widgets, print the table, the picture if it can be shown, and an error of the script."""
        engine = self._need()
        bundle = self._bundle()
        print(bundle["text/plain"])
        error = engine.run.trace.error if engine.run else {"traceback": repr(engine.failure)}
        if error and not summary.in_place_of_a_curve(engine.points, engine.run):
            print(printable(error.get("traceback") or error.get("message", "")))
        from bugzoo.lab.frontend import kernel

        if kernel() is not None and "image/png" in bundle:
            from IPython.display import Image, display

            display(Image(bundle["image/png"]))
