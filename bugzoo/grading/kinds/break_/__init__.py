"""*break*: the learner gets the healthy program, and writes an edit that produces a symptom.

Any edit that does it passes (`verdict`); the exercise's fault is one of them. There is no diagnosis. Measure several edits
on ten seeds before you choose a threshold: a network that knows nothing is right on 1 to 29 % of 287 digits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from bugzoo.errors import UserError
from bugzoo.faults.model import Written
from bugzoo.grading.kinds.repair import Repair, Values

if TYPE_CHECKING:
    from bugzoo.grading.model import Exercise, Result
    from bugzoo.grading.trials import Trial

NO_DIAGNOSIS = "This exercise asks for an edit and has no diagnosis. Hand in your edit with cell.edit(...)."
MEASURES = {
    "grader": "The grader evaluates the trained weights with its own copy of the evaluation. ",
    "both_modes": "The grader calls the trained model in train mode and in eval mode. ",
}
"""Group of claims -> what the grader measures for it."""
LEAST = {"other edits that count": 4, "lazy edits of its own": 2}
"""How many an exercise needs, at least."""


@dataclass(frozen=True)
class Break(Repair):
    """What the edit has to produce, and what it may not touch.

    Claims are texts as in a fault's evidence. They also know two groups. `grader`: metric and loss of the trained weights
    in the grader's own copy of the evaluation, so the model must compute what the healthy one does. `both_modes`: what
    later tokens do in train mode and in eval mode (`both_modes.py`), each time the worse number of the two: a leak in one
    mode is a trick.
    """

    must: tuple[str, ...]
    """Claims that hold on every seed, such as `overfit_one_batch.ratio < 0.2`."""
    on_average: tuple[str, ...]
    """Claims about the means over the seeds."""
    alarms: tuple[str, ...]
    """Instruments that belong to the symptom. Any other that fires refuses the edit."""
    stays: tuple[str, ...]
    """Parts of the program that stay as they are: keys of `unchanged_parts.PARTS`.

    A part holds for any program, so no row names a script's own variables. Names, comments and layout do not count. What a
    statement cannot show, such as scores put back after the mask, is left to a claim about the run.
    """
    hints: tuple[str, str, str]
    """From a nudge to the place. The fault's own hints help to find a fault, not to write one."""
    moral: str
    """What the debrief says after the edit passes."""
    counts: Mapping[str, Written]
    """Name -> another edit of the healthy program that does it."""
    lazy: Mapping[str, Written]
    """Name -> an edit that does not: the proof adds those that fit any program (`lazy`)."""
    views: tuple[str, ...] = ("loss_curve", "one_batch", "evaluation")
    """The views that show the symptom, which the notebook opens; every other one is a call away."""

    @property
    def groups(self) -> frozenset[str]:
        """What its claims are about: instruments, `grader` and `both_modes`."""
        return frozenset(text.split(".")[0] for text in (*self.must, *self.on_average))

    name: ClassVar[str] = "break"
    diagnosis: ClassVar[bool] = False
    work: ClassVar[str] = "edit"
    checked: ClassVar[str] = "with the edit above"
    folded: ClassVar[bool] = False

    def hints_for(self, exercise: "Exercise") -> tuple[str, ...]:
        return self.hints

    def handed_out(self, exercise: "Exercise") -> str:
        """Return the healthy program."""
        from bugzoo.grading.texts import healthy_text

        return healthy_text(exercise)

    def accepted(self, exercise: "Exercise") -> dict[str, str]:
        """Return the text with the fault, and the edits that the declaration counts."""
        from bugzoo.grading.repairs import all_made
        from bugzoo.grading.texts import broken_text

        return {"solution": broken_text(exercise)} | all_made(exercise.handed_out, self.counts, {})

    def open_cells(self, exercise: "Exercise", answer: str) -> dict[str, str]:
        from bugzoo.grading.notebook import GRADER, begin, texts

        name, views = exercise.name, ", ".join(f'"{view}"' for view in self.views)
        looks = f"for name in ({views}):\n    numbers = program.look(name)"
        measures = "".join(text for group, text in MEASURES.items() if group in self.groups)
        return (
            begin(exercise)
            | texts("break", measures=measures)
            | {
                "look-first": looks,
                "more": f"view = program.run()\nprogram.numbers()\n{looks}",
                "hints": f'hints = cell.hints("{name}")',
                "repair": f'{GRADER}\n\ncell.edit("{name}")',
                "debrief": f'cell.debrief("{name}")',
            }
        )

    def answer(self, exercise: "Exercise", version: str) -> str:
        return ""

    def form(self, exercise: "Exercise", number: int) -> NoReturn:
        raise UserError(NO_DIAGNOSIS)

    def grade(self, exercise: "Exercise", source: str, diagnosis: Values, options: Values) -> "Result":
        """Grade an edit by the symptom that it produces."""
        from bugzoo.grading.kinds.break_.verdict import grade_break

        return grade_break(exercise, self, source, **options)

    def grade_diagnosis(self, exercise: "Exercise", record: Values) -> "Result":
        from bugzoo.grading.model import Result

        return Result("not attempted", message=NO_DIAGNOSIS, max_points=exercise.points[1])

    def why(self, exercise: "Exercise") -> list[str]:
        from bugzoo.grading.debrief import diff
        from bugzoo.grading.texts import broken_text

        (fault, _), edit = exercise.about_fault, diff(exercise.handed_out, broken_text(exercise))
        head = "### One edit that does it\n\nAny edit that gives the symptom counts. This one is the catalogue's:"
        return [
            f"{head}\n\n```diff\n{edit}\n```",
            f"**{fault.title}.** {fault.why}",
            self.moral,
            f"**Repair.** {fault.fix}",
        ]

    def compared(self, exercise: "Exercise", own: str) -> list[tuple[str, str]]:
        """Return the learner's program, else the text with the catalogue's edit, over the healthy run."""
        from bugzoo.grading.texts import broken_text

        edited = (own, "with your edit") if own else (broken_text(exercise), "with the edit above")
        return [edited, ("", "as handed out")]

    def trials(self, exercise: "Exercise") -> Iterator["Trial"]:
        """Yield edits that count, lazy ones, and attacks on the healthy program."""
        from bugzoo.grading.kinds.break_.lazy import LAZY_BREAKS
        from bugzoo.grading.repairs import all_made
        from bugzoo.grading.trials import Trial
        from bugzoo.grading.trials.attacks import attacks

        yield Trial(exercise.name, "unsolved", "as handed out", exercise.handed_out)
        for name, text in self.accepted(exercise).items():
            yield Trial(exercise.name, "solution" if name == "solution" else "correct", name, text)
        for name, text in all_made(exercise.handed_out, {**self.lazy, **LAZY_BREAKS}, {}).items():
            yield Trial(exercise.name, "degenerate", name, text)
        for name, text in attacks(exercise.handed_out).items():
            yield Trial(exercise.name, "attack", name, text)

    def of_an_end(self, case: "Exercise") -> Iterator["Trial"]:
        """Yield its views, and every edit of the declaration: they were written for this exercise."""
        from bugzoo.grading.trials import VIEWS, Trial

        yield Trial(case.name, VIEWS, "", "")
        for trial in self.trials(case):
            if trial.kind in ("solution", "unsolved", "correct") or trial.name in self.lazy:
                yield trial

    def sights(self, exercise: "Exercise") -> list[tuple[str, bool]]:
        """Return both programs: the healthy one shows nothing unusual, and the text with the fault does."""
        from bugzoo.grading.texts import broken_text

        return [(exercise.handed_out, True), (broken_text(exercise), False)]

    def claims(self, exercise: "Exercise") -> tuple[object, ...]:
        return self.must, self.on_average, self.alarms, self.stays

    def thin(self, exercise: "Exercise", trials: Sequence["Trial"]) -> list[str]:
        from bugzoo.grading.repairs import all_made
        from bugzoo.grading.trials import fewer

        lazy = all_made(exercise.handed_out, self.lazy, {})
        correct = sum(trial.kind == "correct" for trial in trials)
        return fewer({"other edits that count": correct, "lazy edits of its own": len(lazy)}, LEAST)

    def diagnoses(self, exercise: "Exercise") -> tuple[int, list[str]]:
        return 0, []

    def probe(self, exercise: "Exercise") -> dict[str, Any]:
        """Return the notebook with a lazy edit and a curious learner's cells."""
        from bugzoo.grading.kinds.break_.lazy import LAZY_BREAKS
        from bugzoo.grading.repairs import all_made
        from bugzoo.grading.trials.curious import PROBES, cells, notebook

        lazy = next(iter(all_made(exercise.handed_out, LAZY_BREAKS, {}).values()))
        document = notebook(exercise, source=lazy)
        document["cells"] += cells(text.replace("form.diagnosis, ", "").replace("repr(form), ", "") for text in PROBES)
        return document
