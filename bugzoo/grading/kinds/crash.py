"""*crash*: a repair that begins with a traceback, in the place of the curve.

The diagnosis asks for two lines: the one that has to change, and the one that raised the error. The traceback is the look,
so no view is asked for, and that line earns its point. Choose a fault whose two lines lie far apart.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from bugzoo.grading.kinds.repair import Repair

if TYPE_CHECKING:
    from bugzoo.grading.diagnosis import Weights
    from bugzoo.grading.healthy import Stop
    from bugzoo.grading.model import Exercise


@dataclass(frozen=True)
class Crash(Repair):
    """Find and repair a fault that ends the run with an error."""

    name: ClassVar[str] = "crash"

    def stop(self, exercise: "Exercise") -> "Stop":
        """Return the error that ends the program as handed out. Raises UserError if none does."""
        from bugzoo.grading.healthy import stop

        return stop(exercise.handed_out, exercise.scenario.ranks)

    @property
    def weights(self) -> "Weights":
        from bugzoo.grading.diagnosis import CRASH

        return CRASH

    def open_cells(self, exercise: "Exercise", answer: str) -> dict[str, str]:
        from bugzoo.grading.notebook import texts

        cells = super().open_cells(exercise, answer) | texts("crash")
        return cells | {"look-first": 'numbers = program.look("layers")'}

    def why(self, exercise: "Exercise") -> list[str]:
        """Return the explanation, and first of all why another line raised the error."""
        from bugzoo.grading.answers import filled
        from bugzoo.syntax import source_lines

        lines, answer = source_lines(exercise.handed_out), filled(exercise)
        raised, place = (
            f"line {at}:\n\n```python\n{lines[at - 1].strip()}\n```" for at in (answer["raised"], answer["place"])
        )
        why = "PyTorch checks an operation only when it runs, so the line that runs it raises the error."
        two = f"### Two lines\n\nIn the traceback, the last line of the program is {raised}\n\n"
        two += f"{why} The mistake was made before, at {place}"
        said, *explained = super().why(exercise)
        return [said, two, *explained]

    def compared(self, exercise: "Exercise", own: str) -> list[tuple[str, str]]:
        """Return nothing: a run that ends with an error has no curve."""
        return []

    def sights(self, exercise: "Exercise") -> list[tuple[str, bool]]:
        """Return the program as handed out on each seed."""
        return [(case.handed_out, False) for case in seeds(exercise)]

    def ended(self, exercise: "Exercise") -> list[str]:
        """Return a sentence for each seed on which the run ends with another error, or on another line; and for equal lines."""
        from bugzoo.grading.answers import right
        from bugzoo.grading.diagnosis import near

        first, *others = [self.stop(case) for case in seeds(exercise)]
        told = (first.type, first.line, first.step)
        problems = [f"a seed ends otherwise: {stop}" for stop in others if (stop.type, stop.line, stop.step) != told]
        if near(right(exercise), first.line):
            problems.append(f"line {first.line}, which raised the error, counts as the line to change")
        return problems


def seeds(exercise: "Exercise") -> list["Exercise"]:
    """Return the exercise on its own seed, and on each other seed on which a repair is graded."""
    return [replace(exercise, seed=seed) for seed in dict.fromkeys((exercise.seed, *exercise.seeds))]
