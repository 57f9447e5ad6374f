"""`runs` in the notebook of a *five*: curves, readings and the answer. Nothing is trained, and no code is shown.

runs = cell.five("02_five_beginnings")
runs.curves()                  # free
runs.look("gradients", 3)      # a reading of run 3, beside the earlier ones of this view; after the first five, each costs points
runs.hand_in(run=3, cause="...", reading="gradients")
"""

import math
from typing import Any

from bugzoo import record, views
from bugzoo.diagnostics.causes import NOTHING
from bugzoo.errors import UserError, unknown
from bugzoo.frontend import fit, headless
from bugzoo.grading.kinds.five.answers import FREE, NONE, PRICE, RUNS, five, named_run, opened, price
from bugzoo.grading.kinds.five.recordings import recorded_views, recording
from bugzoo.lab.look import show

PARTS = 10
"""Rows of the table of losses."""


class FiveRuns:
    """The recorded runs of one exercise, and what its learner opened. It does not hold which of them is broken."""

    def __init__(self, name: str, ticket: str, causes: tuple[str, ...]) -> None:
        self.name, self.ticket, self.causes = name, ticket, causes
        recording(name)  # raises now if it is missing

    def curves(self) -> None:
        """Show the five losses on one scale, and their means over ten parts of the run. This costs nothing."""
        curves = [run.losses for run in recording(self.name)]
        if not headless():
            from bugzoo import lab
            from bugzoo.plots import five_curves

            lab.show_figure(five_curves.picture(curves, guessing=guessing(self.name)))
        print("\n".join(table(curves)))

    def views(self) -> None:
        """Print the views that were recorded, with their questions, under their headings."""
        names = recorded_views()
        width = max(map(len, names))
        for heading, all_of_it in views.HEADINGS.items():
            if listed := [name for name in all_of_it if name in names]:
                print(heading)
                print("\n".join(f"  {name:{width}}  {views.question(name)}" for name in listed))

    def look(self, view: str, run: int) -> dict[str, Any]:
        """Open a view of one run: draw its picture, and show the runs in which the view is open as columns.

        Return label -> number of this run. A reading that was opened before costs nothing. Raises UserError for an unknown
        view or run.
        """
        self.note(view, run)
        print(self.cost())
        return self.columns(view, run)

    def note(self, view: str, run: int) -> None:
        """Put a reading among the opened ones. Raises UserError for an unknown view or run."""
        names = recorded_views()
        if view not in names:
            raise unknown("view", view, names, "runs.views()")
        if isinstance(run, bool) or run not in range(1, RUNS + 1):
            raise UserError(f"There is no run {run!r}. The runs are 1 to {RUNS}.")
        record.note(self.ticket, "looked", {"view": view, "run": int(run)})

    def columns(self, view: str, run: int) -> dict[str, Any]:
        """Show the opened readings of a view, a column for each run, and the picture of one run; return its numbers."""
        runs = recording(self.name)
        readings = {f"run {place}": runs[place - 1].readings[view] for name, place in self.opened() if name == view}
        return show(view, readings, of=f"run {run}")

    def cost(self) -> str:
        """Return how many readings were opened, and what they cost."""
        count = len(self.opened())
        free = FREE - count
        left = f"{free} {'is' if free == 1 else 'are'} free"
        further = f"each further one costs {PRICE:.0%} of the points"
        return f"Readings opened: {count}, cost so far {price(count):.0%}; {left if free > 0 else further}."

    def opened(self) -> list[list[Any]]:
        """Return [view, run] of each reading that was opened, once."""
        notes = record.notes(self.ticket, "looked")
        return [
            list(reading) for reading in sorted(opened({"opened": [(note["view"], note["run"]) for note in notes]}))
        ]

    def latest(self) -> tuple[str, int]:
        """Return (view, run) of the reading that was opened last; without any, the first view and 0."""
        notes = [note for note in record.notes(self.ticket, "looked") if note["view"] in recorded_views()]
        return (notes[-1]["view"], notes[-1]["run"]) if notes else (recorded_views()[0], 0)

    def standing(self) -> str:
        """Return the cost, and the runs in which each view is open."""
        places: dict[str, list[str]] = {}
        for view, run in self.opened():
            places.setdefault(view, []).append(str(run))
        listed = "; ".join(f"{view} of run {', '.join(numbers)}" for view, numbers in places.items())
        return f"{self.cost()} Open: {listed}." if listed else self.cost()

    def readings(self) -> None:
        """Show a list of the views and a button for each run; without a front end, the call that does the same."""
        if headless():
            print(f'Open a reading with runs.look("{recorded_views()[0]}", 1). {self.standing()}')
            return
        from bugzoo.grading.kinds.five.widgets import Readings

        Readings(self)

    def form(self) -> None:
        """Show the answer form; without a front end, the call that does the same."""
        if headless():
            print(f"Answer with {CALL}. The causes are in runs.causes, the views in runs.views().")
            return
        from bugzoo.grading.kinds.five.widgets import FiveForm

        FiveForm(self)

    def hand_in(self, run: int | str, cause: str = "", reading: str = "") -> str:
        """Save an answer and return a sentence. `run`: 1 to 5, or 0 if none is broken; then no cause is needed.

        The first complete answer is graded. Later ones are practice.
        """
        place = named_run(run)
        complete = place is not None and bool(reading) and (place == NONE or bool(cause))
        answer = {"run": place, "cause": str(cause), "reading": str(reading), "opened": self.opened()}
        first = not any(note.get("complete") for note in record.notes(self.ticket, "diagnosis"))
        record.note(self.ticket, "diagnosis", {**answer, "complete": complete})
        if not complete:
            message = "Saved, but not complete: name a run, a cause and the view that told you."
        elif first:
            message = "Saved. This answer is graded: run the cell below."
        else:
            message = "Saved as practice: your first complete answer is the grade."
        print(fit(message))
        return message

    def __dir__(self) -> list[str]:
        return ["causes", "cost", "curves", "form", "hand_in", "look", "name", "opened", "readings", "ticket", "views"]

    def __repr__(self) -> str:
        return f"<five runs, ticket {self.ticket}>"


def begin(name: str) -> FiveRuns:
    """Return the runs of an exercise, and say so. Raises UserError for an exercise of another kind."""
    from bugzoo.grading.answers import causes
    from bugzoo.grading.exercises import load

    exercise = load(name)
    five(exercise)
    menu = tuple(cause for cause in causes(exercise) if cause != NOTHING)  # that is an answer about the runs
    five_runs = FiveRuns(exercise.name, exercise.scenario.ticket, menu)
    if not record.notes(five_runs.ticket, "started"):
        record.note(five_runs.ticket, "started", {"exercise": exercise.name, "program": exercise.program})
    print(f"Ticket {five_runs.ticket}: five recorded runs. Run the next cells one by one.")
    return five_runs


def guessing(name: str) -> float:
    """Return the loss of guessing in nats, ln C, that the runs of a recording share; NaN where it is not known."""
    losses = [run.readings["loss_curve"].numbers.get("guessing", math.nan) for run in recording(name)]
    return next(filter(math.isfinite, losses), math.nan)  # a run may compute its loss in a way that does not say C


CALL = 'runs.hand_in(run=1, cause="...", reading="...")'


def table(curves: list[tuple[float, ...]]) -> list[str]:
    """Return the mean losses of ten parts, one column a run."""
    import numpy as np

    steps = np.arange(1, max(map(len, curves)) + 1)
    lines = [f"{'steps':>9}" + "".join(f"  {f'run {place}':>8}" for place in range(1, len(curves) + 1))]
    for part in np.array_split(steps, min(PARTS, len(steps))):
        means = (float(np.mean(curve[part[0] - 1 : part[-1]])) for curve in curves)
        lines.append(f"{f'{part[0]}-{part[-1]}':>9}" + "".join(f"  {mean:>8.4g}" for mean in means))
    return lines
