"""`program` and `%%program Section` in a notebook: a cell is saved as text, and `program.run()` runs it.

%load_ext bugzoo.grading.workbench
program.begin("04_flat_loss", "auto")   # the program as handed out, on CUDA where there is a GPU
view = program.run()                    # a fresh process, a live plot

%%program Training
...                                  # saved; this kernel trains nothing
"""

import base64
import threading
import zlib
from typing import Any

from bugzoo import device as places
from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.frontend import headless
from bugzoo.grading import healthy, looks
from bugzoo.grading.program import SECTIONS, cell_name, join, split
from bugzoo.lab import observer
from bugzoo.printable import printable

PARTS = 10
"""Rows of `program.numbers()`."""


class Program:
    """The saved cells, their latest run and the ticket."""

    def __init__(self) -> None:
        self.sections: dict[str, str] = {}
        self.after: dict[str, str] = {}
        self.ranks = 1
        """Number of processes that the program runs on."""
        self.ticket = ""
        self.device = places.CPU
        """Where the program runs; its text says "cpu", as the cells do."""
        self._forms: tuple[str, ...] = ()
        """Tickets of the forms that ask for it, if there are several."""
        self._assigned = False
        """It is an assignment's: its diagnosis can be changed until the notebook is collected."""
        self._handed: dict[str, str] = {}
        self._twin: healthy.Twin | None = None
        self._view: Any = None
        self._looks = looks.Looks()
        self._edited = False
        """The learner breaks the program: there is no diagnosis that could open anything."""

    # ---- called by the notebook's first cell

    def begin(self, name: str, device: str = places.CPU) -> None:
        """Load an exercise's program as handed out, unless its cells were already run. Raises UserError.

        `device`: "auto", "cpu" or "cuda", where `run`, `look` and `tool` run it. An exercise may keep to one device.
        """
        from bugzoo.grading.exercises import load

        exercise = load(name)
        self.device = places.use(places.CPU if exercise.on_cpu else device)
        about: dict[str, Any] = {"exercise": exercise.name, "program": exercise.program}
        self._forms, self._assigned = exercise.forms if len(exercise.forms) > 1 else (), False
        about |= {"forms": len(self._forms)} if self._forms else {}
        twin = healthy.Twin(exercise.name, device=self.device)
        self._start(exercise.scenario.ticket, exercise.handed_out, twin, about)
        self.ranks, self._edited = exercise.scenario.ranks, not exercise.kind.diagnosis
        print(f"Ticket {self.ticket}: {self._which()}. Run the next cells one by one.")
        observer.listen(self.ticket)

    def hand_out(
        self, program: str, ticket: str, text: str, *, seed: int = 0, size: str = "full", ranks: int = 1
    ) -> None:
        """Load an assignment's program from the notebook's packed text; `program` names its healthy twin."""
        self.device, twin = places.CPU, healthy.Twin("", program, seed, size)
        self._start(
            ticket, zlib.decompress(base64.b85decode("".join(text.split()))).decode(), twin, {"program": program}
        )
        self.ranks, self._forms, self._assigned = ranks, forms(ticket), True

    def _start(self, ticket: str, text: str, twin: healthy.Twin, about: dict[str, Any]) -> None:
        if ticket != self.ticket:
            self.sections, self.after, self._view = {}, {}, None
        self.ticket, self._handed, self._twin = ticket, split(text), twin
        self.sections = {**self._handed, **self.sections}
        if not record.notes(ticket, "started"):
            record.note(ticket, "started", about)
        if not headless():  # so that it is ready for the first plot
            threading.Thread(target=_quietly, args=(twin.curve,), name="bugzoo-healthy", daemon=True).start()

    # ---- called by the learner

    @property
    def source(self) -> str:
        """The program's text, from the cells as last run. Raises UserError if a part is missing."""
        observer.opened(self.ticket, "source")
        return self.text()

    def text(self) -> str:
        """Return the source for the grader; it does not count as opened."""
        return join(self.sections, self.after)

    @property
    def as_run(self) -> str:
        """The text that runs: the source, with `device = "cpu"` replaced by the notebook's device."""
        return places.on_device(self.text(), self.device)

    @property
    def original(self) -> str:
        """The program's text as handed out, whose lines a diagnosis names."""
        observer.opened(self.ticket, "original")
        return join(self._handed)

    @property
    def diagnosed(self) -> bool:
        """Whether a diagnosis of this ticket is complete; if so, repairs are graded and verdicts open.

        Never in an assignment: its diagnosis can be changed until the notebook is collected.
        """
        return not self._assigned and diagnosed(*(self._forms or (self.ticket,)))

    def run(self) -> Any:
        """Train the program in a fresh process, plotted live over the healthy run; return the view with a Stop button."""
        from bugzoo import lab

        text = self.as_run
        print(f"This runs {self._which()}.")
        if self._view is not None:
            self._view.stop()
        job = healthy.job(text, self.ranks)
        twin = self._twin.curve() if self._twin else None
        self._view = lab.live(text, healthy=twin, job=job, explain=self.diagnosed, cap=10**9)
        return self._view

    def numbers(self) -> None:
        """Wait for the latest run; print it in ten parts, and how it ended, beside the healthy run."""
        run = self._latest()
        twin = self._twin.curve() if self._twin else None
        where = places.of_text(run.source)
        print("\n".join(report(self._view.points, run.outcome, run.trace.metrics, twin, where)))
        if error := run.trace.error:
            print(printable(error.get("traceback") or f"{error.get('type')}: {error.get('message')}"))

    def lines(self) -> None:
        """Print the program with its line numbers, from its first statement on."""
        from bugzoo import lab

        lab.lines(self.source)

    def views(self) -> None:
        """Print the views with their questions, under their headings, and the tools."""
        print(looks.listed())

    def look(self, name: str, step: int | None = None) -> dict[str, Any]:
        """Open a view: print its numbers beside their usual ranges, draw its picture, return the numbers.

        The program runs once for all views. `step`: the optimizer step whose batch `look("batch", step=50)` shows. The
        look is recorded for the diagnosis. Raises UserError for an unknown view, or a step where it has no meaning.
        """
        looks.checked(name, step)  # reported before anything runs
        text = self.as_run
        reading = self._looks.reading(name, text, self.ranks, step)
        for ticket in filter(None, (self.ticket, *self._forms)):
            record.note(ticket, "looked", {"view": name})
        return looks.show(name, reading, places.of_text(text))

    def tool(self, name: str) -> dict[str, Any]:
        """Run one of the tools that `program.views()` lists, print what it measures and return it. Raises UserError."""
        looks.checked_tool(name)
        # never opened in an assignment and where there is no diagnosis, so nothing is said to open
        return looks.use(name, self.as_run, self.ranks, None if self._assigned or self._edited else self.diagnosed)

    def instruments(self) -> None:
        """Raise a UserError: views have taken the place of instruments here."""
        raise UserError("Exercises show views of a run now. List them with program.views().")

    def instrument(self, name: str) -> None:
        """Raise a UserError that names the view in which an instrument's numbers stand."""
        raise looks.moved(name)

    # ---- internal

    def _latest(self) -> Any:
        if self._view is None:
            raise UserError("The program has not run yet. Run it with view = program.run().")
        return self._view.result

    def _which(self) -> str:
        changed = [name for name, text in self.sections.items() if text.strip() != self._handed.get(name, "").strip()]
        if not self._handed:
            return "the program from its cells as last run"
        where = "" if self.device == places.CPU else f", on {self.device}"
        what = f"with your {', '.join(changed)}" if changed else "as handed out"
        return f"the program {what}{where}"

    def _keep(self, name: str, before: str, cell: str) -> str:
        """Save a cell's text and return a sentence. Raises UserError for an unknown section, SyntaxError for bad code."""
        observer.opened(self.ticket, name)
        if name not in SECTIONS and not before:
            raise UserError(f"%%program {name}: there is no such section. Use one of {', '.join(SECTIONS)}.")
        self.sections[name] = cell  # also with a syntax error: the cell's text is what is graded
        if before:
            self.after[name] = before
        compile(cell, f"the cell {name}", "exec", dont_inherit=True)
        new = cell.strip() != self._handed.get(name, cell).strip()
        return f"{name}: saved{', with your change' if new else ''}. Run it with program.run()"

    def __dir__(self) -> list[str]:
        return [
            "after", "begin", "diagnosed", "hand_out", "lines", "look", "numbers", "original", "ranks", "run", "sections",
            "source", "ticket", "tool", "views",
        ]  # fmt: skip

    def __repr__(self) -> str:
        return f"<program {self.ticket}: {', '.join(self.sections) or 'nothing saved yet'}>"


def diagnosed(*tickets: str) -> bool:
    """Return whether the record has a complete diagnosis for a ticket, or for the ticket of each form."""
    return record.first_diagnoses(tickets) is not None


def forms(ticket: str) -> tuple[str, ...]:
    """Return the tickets of an assignment's three forms."""
    return tuple(f"{ticket}/{number}" for number in (1, 2, 3))


def packed(text: str) -> str:
    """Return a program's text packed for `hand_out`."""
    return base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def report(points: list[Any], outcome: str, metrics: Any, twin: Any = None, device: str = places.CPU) -> list[str]:
    """Return the lines of `program.numbers()`; tickets quote numbers from here. `twin`: the healthy curve."""
    here, there = places.places(device, twin.device if twin else device, recorded=True)
    lines = [*table(points, twin.points if twin else []), _ending(f"this run{here}", outcome, metrics)]
    return lines + ([_ending(f"healthy{there}", "finished", twin.metrics)] if twin else [])


def table(points: list[Any], twin: list[Any]) -> list[str]:
    """Return means over ten parts of a run, one line each: steps, loss, gradient norm and the healthy loss."""
    import numpy as np

    if not points:
        return ["no optimizer step was made"]
    lines = [f"{'steps':>11}  {'loss':>8}  {'grad norm':>9}" + (f"  {'healthy loss':>12}" if twin else "")]
    for part in np.array_split(np.arange(len(points)), min(PARTS, len(points))):
        steps, losses, norms = zip(*(points[i] for i in part), strict=True)
        line = f"{f'{steps[0]}-{steps[-1]}':>11}  {np.mean(losses):>8.4g}  {np.mean(norms):>9.3g}"
        beside = [loss for step, loss, _ in twin if steps[0] <= step <= steps[-1]]
        lines.append(line + (f"  {np.mean(beside):>12.4g}" if beside else ""))
    return lines


def _ending(who: str, outcome: str, metrics: Any) -> str:
    ended = "finished" if outcome == "non_finite" else outcome.replace("_", " ")
    numbers = ", ".join(
        f"{name} {100 * value:.0f} %" if name == "accuracy" else f"{name} {value:.3g}"
        for name, value in metrics.items()
    )
    return f"{who}: {ended}" + (f"; validation {numbers}" if numbers else "")


def _quietly(call: Any) -> None:
    try:
        call()
    except Exception:  # reported when it is requested again
        return


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext`: adds the magic and a variable named `program`.

    A cell's error is shown once, without bugzoo's frames; the magic raises it again so that the cell counts as failed.
    """
    from bugzoo import lab  # noqa: F401  its import makes a mistake of the user's one message

    if isinstance(shell.user_ns.get("program"), Program):
        return
    # forgotten after each cell, as IPython prints a warning where an extension is loaded twice
    shell.events.register("post_run_cell", lambda _: shell.extension_manager.loaded.discard(__name__))
    program = Program()
    show, errors = shell._showtraceback, []  # the shell shows every error through it, also a syntax error

    def once(kind: Any, error: Any, lines: Any) -> None:
        if any(error is failure for failure in errors):
            errors.clear()
        else:
            show(kind, error, lines)

    def keep(line: str, cell: str) -> None:
        try:
            print(program._keep(*cell_name(line), cell))
        except (SyntaxError, ValueError) as error:  # ValueError: a null byte
            shell.showsyntaxerror()
            errors[:] = [error]
            raise

    shell._showtraceback = once
    shell.register_magic_function(keep, "cell", "program")
    shell.push({"program": program})
