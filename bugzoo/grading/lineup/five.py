"""Five runs side by side: their curves, their numbers, and any instrument's reading of each. No text of theirs is shown."""

from collections.abc import Sequence
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError, unknown
from bugzoo.frontend import headless
from bugzoo.grading import healthy, readings, workbench
from bugzoo.grading.lineup import load
from bugzoo.grading.lineup.model import LETTERS, NONE
from bugzoo.lab.healthy_twin import Curve


class Board:
    """What a line-up's notebook works with; which run is which stands nowhere in it."""

    def __init__(self, name: str) -> None:
        lineup = load(name)
        self.name, self.ticket, self.causes = lineup.name, lineup.ticket, lineup.offered
        self._curves: dict[str, Curve] = {}
        self._measured: dict[tuple[str, str], Any] = {}
        self._face: Any = None
        if not record.notes(self.ticket, "started"):
            record.note(self.ticket, "started", {"exercise": self.name})

    def show(self) -> "Board":
        """Train the five, each once on this machine, and draw their losses. Stopped in between, it goes on where it was."""
        for number, letter in enumerate(LETTERS, 1):
            if letter not in self._curves:
                _say(f"Training run {letter}, {number} of {len(LETTERS)} ...")
                self._curves[letter] = healthy.recorded(*_text(self.name, letter))
        _say("")
        if headless():
            self.numbers(*LETTERS)
        else:
            from bugzoo import lab

            lab.picture(self.picture())
        return self

    def picture(self) -> Any:
        """A matplotlib figure: the loss of each run over its steps, all on the same scale."""
        from matplotlib.figure import Figure

        from bugzoo.plots._style import curve, prepare
        from bugzoo.plots.comparison import HEALTHY

        figure = Figure(figsize=(11, 2.7), layout="constrained")
        axes = figure.subplots(1, len(LETTERS), sharey=True)
        for letter, ax in zip(LETTERS, axes, strict=True):
            found = self._curves[letter]
            prepare(ax, f"{letter}   {_metric(found)}", "step", "training loss" if letter == LETTERS[0] else "")
            curve(ax, found.steps, found.losses, letter, HEALTHY)
            if all(loss > 0 for loss in found.losses):
                ax.set_yscale("log")
        return figure

    def numbers(self, *letters: str) -> None:
        """Print a run in ten parts: steps, loss, gradient norm; `board.numbers("A", "C")` or any others."""
        for letter in map(_letter, letters or LETTERS):
            found = self._curves.get(letter) or healthy.recorded(*_text(self.name, letter))
            print(f"run {letter}")
            print("\n".join(workbench.report(found.points, "finished", found.metrics)))

    def instruments(self) -> None:
        """Print the instruments, each with the question that it answers."""
        workbench.Program().instruments()

    def instrument(self, letter: str, name: str) -> dict[str, Any]:
        """Run one of the five and print an instrument's question, numbers and what is usual; returns the numbers.

        Verdicts come when an answer was handed in. Raises UserError.
        """
        from bugzoo.diagnostics import measure_all, names, reruns
        from bugzoo.running import Reading, run_worker

        letter = _letter(letter)
        if name not in names():  # told before anything runs
            raise unknown("instrument", name, names(), "board.instruments()")
        if (letter, name) not in self._measured:
            source, ranks = _text(self.name, letter)
            how: dict[str, Any] = {"names": [name], "most_reruns": reruns(name)}
            run = run_worker(healthy.job(source, ranks, after="bugzoo.diagnostics:measure_all", after_args=how))
            if ranks > 1:  # what compares the ranks can only be asked when all of them are back
                known = {one: reading for one, reading in run.readings.items() if reading.applies}
                run.readings = measure_all(run, names=[name], max_cost=0) | known
            reading = run.readings.get(name) or Reading(why_not=f"the run ended as {run.outcome}")
            self._measured[letter, name] = run, reading
        run, reading = self._measured[letter, name]
        record.note(self.ticket, "looked", {"instrument": name, "run": letter})
        print(f"run {letter}")
        return readings.show(name, reading, run, workbench.diagnosed(self.ticket))

    def answer(self) -> "Board":
        """Show the form: which run, what is wrong with it, what shows it."""
        if headless():
            print(
                f'hand_in("B", cause="...", evidence=["instrument"]) or hand_in({NONE!r}); board.causes lists the causes.'
            )
            return self
        from bugzoo.grading.lineup.face import Face

        self._face = Face(self)
        return self

    def looked(self, run: str = NONE) -> list[str]:
        """The instruments that were looked at on that run, or on any where none is ill, in the order of the first look."""
        seen = record.notes(self.ticket, "looked")
        return list(dict.fromkeys(one["instrument"] for one in seen if run in (NONE, one.get("run"))))

    def hand_in(self, run: str, cause: str = "", evidence: Sequence[str] = ()) -> str:
        """Keep an answer: a letter or "none", a cause of `board.causes`, instruments. Raises UserError for what is not there."""
        from bugzoo.lab.diagnosis import offered

        run = NONE if str(run).strip().lower() == NONE else _letter(run)
        cause = offered(cause, self.causes) if cause else ""
        known = list(evidence) or self.looked(run)
        record.note(self.ticket, "diagnosis", {"run": run, "cause": cause, "evidence": known})
        return f"Kept: {run}{f', {cause}' if cause else ''}. The next cell says what it is worth."

    def __dir__(self) -> list[str]:
        return ["answer", "causes", "hand_in", "instrument", "instruments", "looked", "numbers", "picture", "show"]

    def __repr__(self) -> str:
        return f"<line-up {self.ticket}: {', '.join(LETTERS)}>"


def _letter(given: str) -> str:
    letter = str(given).strip().upper()
    if letter not in tuple(LETTERS):
        raise UserError(f"{given!r} is no run; it is one of {', '.join(LETTERS)}.")
    return letter


def _text(name: str, letter: str) -> tuple[str, int]:
    """(text, ranks). It is asked for each time, so that nothing in the kernel holds it."""
    from bugzoo.grading.grade import tidy

    scenario = load(name).runs[letter].scenario
    return tidy(scenario.source), scenario.ranks


def _metric(curve: Curve) -> str:
    name, value = next(iter(curve.metrics.items()), ("", 0.0))
    return f"{name} {value:.2f}" if name else ""


def _say(text: str) -> None:
    """A line that the next one replaces, for people only."""
    if headless():
        return
    from IPython.display import clear_output

    clear_output(wait=True)
    if text:
        print(text, flush=True)
