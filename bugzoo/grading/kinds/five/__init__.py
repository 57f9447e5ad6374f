"""*five*: five recorded runs, without code. At most one is broken: which, of what, and which view tells?

A view tells if one of its numbers is outside its usual range in the broken run and in no other. That comes from the recording,
so choose settings and not views. The recording is graded in every notebook and in a class, so that all get the same task. It
does not say what was run; `proofs/recorded` does, for people and for the proof. A learner's own notebook counts the looks: the
price of a reading is a rule of the game, and no protection.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from bugzoo.errors import UserError
from bugzoo.grading.kinds.repair import Repair, Values
from bugzoo.scenario import Scenario

if TYPE_CHECKING:
    from bugzoo.grading.model import Exercise, Result
    from bugzoo.grading.trials import Trial

INCOMPLETE = (
    "not attempted: your answer is not complete. Name a run, its cause and the view that told you, and hand in."
)


@dataclass(frozen=True)
class Healthy:
    """One of the four healthy runs of a *five*: how it differs from the first run, besides the missing fault."""

    seed: int = 0
    """Added to the exercise's seed."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    trap: str = ""
    """The spec of a trap: something odd and harmless."""


@dataclass(frozen=True)
class Five(Repair):
    """The runs: that of the exercise's fault, and four healthy ones. With a trap as the fault none is broken.

    The healthy ones have other seeds, a learning rate within a factor of 3, and a trap where one fits. Their order is drawn
    from the exercise's name. `bugzoo exercises record` trains and records them, once. `points=(0.0, 10.0)`: there is no
    repair. A ticket's story quotes no number.
    """

    healthy: tuple[Healthy, Healthy, Healthy, Healthy]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of all runs."""

    name: ClassVar[str] = "five"
    program: ClassVar[bool] = False
    incomplete: ClassVar[str] = INCOMPLETE
    work: ClassVar[str] = "five"

    def scenario(self, exercise: "Exercise") -> Scenario:
        return Scenario(exercise.program, exercise.faults, {**exercise.settings, **self.settings}, exercise.seed)

    def cells(self, exercise: "Exercise", version: str, source: str, answer: str) -> list[Any]:
        from bugzoo.grading.kinds.five.cells import cells

        return cells(exercise, answer or self.answer(exercise, version), version == "instructor")

    def right_answer(self, exercise: "Exercise") -> str:
        from bugzoo.grading.kinds.five.cells import solved

        return solved(exercise)

    def form(self, exercise: "Exercise", number: int) -> NoReturn:
        raise UserError(f'Exercise {exercise.name} has recorded runs. Begin with runs = cell.five("{exercise.name}").')

    def grade(self, exercise: "Exercise", source: str, diagnosis: Values, options: Values) -> NoReturn:
        raise UserError(f"Exercise {exercise.name} has no program, so there is nothing to repair.")

    def grade_diagnosis(self, exercise: "Exercise", record: Values) -> "Result":
        from bugzoo.grading.kinds.five.answers import grade

        return grade(exercise, record)

    def answered(self, exercise: "Exercise", record: Values | None, result: "Result") -> "Result":
        return result

    def waits(self, exercise: "Exercise", passed: bool, give_up: bool) -> str:
        """Return the sentence that says why the debrief is not open: an answer opens it, right or wrong."""
        from bugzoo.grading.workbench import diagnosed

        give = f'Or give up: cell.debrief("{exercise.name}", give_up=True)'
        return "" if give_up or diagnosed(*exercise.forms) else f"The debrief opens with your answer. {give}"

    def debrief(self, exercise: "Exercise", program: Any) -> None:
        from bugzoo.grading.kinds.five.debrief import show

        show(exercise)

    def trials(self, exercise: "Exercise") -> Iterator["Trial"]:
        """Yield nothing: there is no program to hand in."""
        return iter(())

    def seen(self, exercise: "Exercise") -> list["Trial"]:
        """Return the search for names, and the proof of each recording: the exercise's, and those of its tickets."""
        from bugzoo.grading.kinds.five.answers import cases
        from bugzoo.grading.trials import FIVE, LEAKS, Trial

        recordings = [Trial(case.name, FIVE, case.name, "") for case in cases(exercise)]
        return [Trial(exercise.name, LEAKS, "", ""), *recordings]

    def thin(self, exercise: "Exercise", trials: Sequence["Trial"]) -> list[str]:
        return []

    def diagnoses(self, exercise: "Exercise") -> tuple[int, list[str]]:
        """Return nothing: the proof of a recording grades the answers."""
        return 0, []

    def probe(self, exercise: "Exercise") -> dict[str, Any]:
        """Return the notebook with every reading opened, a wrong answer, and a curious learner's cells before it."""
        from bugzoo.grading.kinds.five.answers import RUNS, broken
        from bugzoo.grading.kinds.five.recordings import recorded_views
        from bugzoo.grading.trials.curious import before_answer, cells, notebook

        every = f"for view in {recorded_views()}:\n    for run in range(1, {RUNS + 1}):\n        runs.look(view, run)"
        wrong = f"runs.hand_in(run={(broken(exercise) + 1) % (RUNS + 1)}, cause='something else', reading='batch')"
        document = notebook(exercise, answer=wrong)
        before_answer(document, cells((every, *PROBES)))
        document["cells"] = [cell for cell in document["cells"] if cell["id"] != "debrief"]  # after an answer it opens
        return document

    def files(self, exercise: "Exercise") -> str:
        """Return the recording."""
        from bugzoo.grading.kinds.five.recordings import recording

        return repr(recording(exercise.name))


PROBES = (
    "print(repr(runs), vars(runs).keys(), runs.name, runs.ticket, dir(runs), dir(cell))",
    "import pickle\nprint(pickle.dumps(runs.look('loss_curve', 1)))",
    "runs.look('no such view', 1)",
    "runs.look('batch', 9)",
)
"""Cells that a curious learner might add; their output must not name the fault."""
