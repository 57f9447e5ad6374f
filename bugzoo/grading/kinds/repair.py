"""*repair*: find a fault and repair it. This is also what every other kind does where it says nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bugzoo.draws import Pick
from bugzoo.scenario import Scenario

if TYPE_CHECKING:
    from bugzoo.grading.diagnosis import Weights
    from bugzoo.grading.healthy import Stop
    from bugzoo.grading.model import Exercise, Result
    from bugzoo.grading.trials import Trial

INCOMPLETE = (
    "not attempted: your diagnosis is not complete. Choose a cause and its test in the form above the program, keep them, "
    "then name the line and hand in."
)
Values = Mapping[str, Any]
"""The options of a grading, or the record of a diagnosis, by name."""
LEAST = {"correct repairs": 3, "pretences of its own": 2}
"""How many an exercise needs, at least."""


@dataclass(frozen=True)
class Repair:
    """Find a fault and repair it."""

    name: ClassVar[str] = "repair"
    program: ClassVar[bool] = True
    """It hands out a program. Without one its runs are recorded."""
    diagnosis: ClassVar[bool] = True
    """It asks what is wrong. The details of a repair open, and it is graded, once the diagnosis is complete."""
    incomplete: ClassVar[str] = INCOMPLETE
    """What the graded cell says before that."""
    work: ClassVar[str] = "repair"
    """What a learner hands in, in the record and in a sentence."""
    checked: ClassVar[str] = "as handed out"
    """The program on which the debrief's `checkup` runs."""
    folded: ClassVar[bool] = True
    """The program's cells begin as bars."""

    # ---- what it is about

    def faults(self, exercise: "Exercise") -> tuple[str, ...]:
        """Return the spec of each fault."""
        return (exercise.fault,)

    def scenario(self, exercise: "Exercise") -> Scenario:
        """Return the program with its faults, under the exercise's settings and seed."""
        return Scenario(exercise.program, exercise.faults, exercise.settings, exercise.seed)

    def settled(self, pick: Pick) -> "Repair":
        """Return the kind of a drawn case, with what it leaves open chosen by `pick`."""
        return self

    def forms(self, ticket: str) -> tuple[str, ...]:
        """Return the ticket of each diagnosis form."""
        return (ticket,)

    def hints_for(self, exercise: "Exercise") -> tuple[str, ...]:
        """Return the hints, from a nudge to the line. Those of several faults take turns."""
        steps = zip(*(fault.hints for fault, _ in exercise.about_faults), strict=True)
        return tuple(hint for step in steps for hint in step)

    def handed_out(self, exercise: "Exercise") -> str:
        """Return the program's text that the learner gets."""
        from bugzoo.grading.texts import broken_text

        return broken_text(exercise)

    def accepted(self, exercise: "Exercise") -> dict[str, str]:
        """Return name -> text of every hand-in that passes. The solution comes first: the healthy text."""
        from bugzoo.grading.repairs import repairs
        from bugzoo.grading.texts import healthy_text

        return {"solution": healthy_text(exercise)} | repairs(exercise.handed_out, *exercise.about_fault)

    def stop(self, exercise: "Exercise") -> "Stop | None":
        """Return the error with which the program as handed out ends, where the exercise begins with its traceback."""
        return None

    def suspected(self, exercise: "Exercise") -> tuple[str, ...]:
        """Return the causes that its form has to offer besides those of the fault and its look-alikes."""
        return ()

    # ---- the notebook

    def cells(self, exercise: "Exercise", version: str, source: str, answer: str) -> list[Any]:
        """Return the notebook's cells. `source`, `answer`: another program, and another text of the cell to fill in."""
        from bugzoo.grading.notebook import around

        source = source or (self.accepted(exercise)["solution"] if version == "solution" else exercise.handed_out)
        open_cells = self.open_cells(exercise, answer or self.answer(exercise, version))
        in_class = version == "instructor"
        return around(exercise, source, exercise.scenario.ticket, open_cells, folded=self.folded, in_class=in_class)

    def open_cells(self, exercise: "Exercise", answer: str) -> dict[str, str]:
        """Return cell id -> text of the cells that the template leaves open."""
        from bugzoo.grading.notebook import GRADER, begin, texts
        from bugzoo.grading.set_aside import SAID

        name = exercise.name
        return (
            begin(exercise)
            | texts("repair", person=SAID)
            | {
                "hypothesis": f'form = cell.form("{name}")',
                "hints": f'hints = cell.hints("{name}")',
                "form": "form.line()",
                "diagnosis-answer": answer,
                "repair": f'{GRADER}\n\ncell.repair("{name}")',
                "diagnosis": f'{GRADER}\n\ncell.diagnosis("{name}")',
                "debrief": f'cell.debrief("{name}")',
            }
        )

    def answer(self, exercise: "Exercise", version: str) -> str:
        """Return the cell that hands in the diagnosis: nothing for a student, else the right one."""
        from bugzoo.grading.notebook import enclosed

        return "" if version == "student" else enclosed(self.right_answer(exercise), version)

    def right_answer(self, exercise: "Exercise") -> str:
        """Return the call that hands in the right diagnosis."""
        from bugzoo.grading.answers import filled
        from bugzoo.grading.notebook import hand_in

        return f"filled = {hand_in('form', filled(exercise))}"

    def form(self, exercise: "Exercise", number: int) -> Any:
        """Show a diagnosis form and return it. Raises UserError for a form that is not there."""
        from bugzoo.errors import UserError
        from bugzoo.grading.answers import causes, pairs
        from bugzoo.lab import DiagnosisForm

        if number not in (numbers := range(1, len(exercise.forms) + 1)):
            raise UserError(f"This exercise has no form {number}. Use {' or '.join(map(str, numbers))}.")
        questions = {cause: (pair.other, pair.tests.texts) for cause, pair in pairs(exercise).items()}
        return DiagnosisForm(
            exercise.forms[number - 1],
            tickets=exercise.forms,
            causes=causes(exercise),
            pairs=questions,
            source=exercise.handed_out,
            ask_raised=bool(self.weights.raised),
        ).show()

    # ---- the grade

    @property
    def weights(self) -> "Weights":
        """The share of the diagnosis' points that each of its parts has."""
        from bugzoo.grading.diagnosis import EXERCISE

        return EXERCISE

    def graded(self, exercise: "Exercise", source: str, options: Values) -> "Result":
        """Return the result of running a repair on several seeds."""
        from bugzoo.grading.grade import grade

        return grade(source, exercise.scenario, **options)

    def grade(self, exercise: "Exercise", source: str, diagnosis: Values, options: Values) -> "Result":
        """Grade a repair. `options`: those of `grade.grade`, in place of the exercise's own."""
        return self.graded(exercise, source, {"seeds": exercise.seeds, "seconds": exercise.seconds, **options})

    def tried(self, exercise: "Exercise", source: str, options: Values) -> "Result":
        """Run a repair before its diagnosis is complete."""
        return self.grade(exercise, source, {}, options)

    def grade_diagnosis(self, exercise: "Exercise", record: Values) -> "Result":
        """Grade a diagnosis from `lab.DiagnosisForm`: cause, place (line), step, evidence (in order), test (letter)."""
        from bugzoo.grading.answers import grade_finding

        return grade_finding(exercise, record)

    def answered(self, exercise: "Exercise", record: Values | None, result: "Result") -> "Result":
        """Put the answer to a wrong cause in front of a result's message; the program runs once for it."""
        from bugzoo.grading.against import answered

        return answered(exercise, record, result)

    # ---- the debrief

    def waits(self, exercise: "Exercise", passed: bool, give_up: bool) -> str:
        """Return the sentence that says why the debrief is not open; "" if it is. `passed`: the hand-in was graded so."""
        from bugzoo.grading.workbench import diagnosed

        if self.diagnosis and not diagnosed(*exercise.forms):
            return "The debrief opens once you have handed in your diagnosis and your repair passes."
        give = f'Or give up: cell.debrief("{exercise.name}", give_up=True)'
        return "" if passed or give_up else f"The debrief opens once your {self.work} passes. {give}"

    def debrief(self, exercise: "Exercise", program: Any) -> None:
        """Show the debrief. `program`: the notebook's, for the run afterward; None for the healthy run instead."""
        from bugzoo.grading.debrief import show

        show(exercise, program)

    def why(self, exercise: "Exercise") -> list[str]:
        """Return the debrief's explanation in paragraphs: what was said, what was wrong, how it is repaired."""
        from bugzoo.grading.debrief import explained, repaired, thought

        return [thought(exercise), *explained(exercise), *repaired(exercise)]

    def compared(self, exercise: "Exercise", own: str) -> list[tuple[str, str]]:
        """Return (text, name) of the two runs in the debrief's picture; the text "" is the healthy twin.

        `own`: the text of the learner's program, "" without one.
        """
        now = (own, "as it is now") if own else ("", "healthy")
        return [(exercise.handed_out, "as handed out"), now]

    # ---- the proof

    def trials(self, exercise: "Exercise") -> Iterator["Trial"]:
        """Yield every hand-in that proves it, with its diagnosis."""
        from dataclasses import replace

        from bugzoo.grading.answers import true_causes
        from bugzoo.grading.texts import healthy_text
        from bugzoo.grading.trials import of_texts

        cause = true_causes(exercise)[0]
        for trial in of_texts(exercise.handed_out, healthy_text(exercise), *exercise.about_fault):
            diagnosis = None if trial.kind == "unsolved" else {"cause": cause}
            yield replace(trial, diagnosis=diagnosis, exercise=exercise.name)

    def seen(self, exercise: "Exercise") -> list["Trial"]:
        """Return what is proved besides: the search for names, and that the fault shows in a view."""
        from bugzoo.grading.trials import LEAKS, VIEWS, Trial

        return [Trial(exercise.name, kind, "", "") for kind in (LEAKS, VIEWS)]

    def of_an_end(self, case: "Exercise") -> Iterator["Trial"]:
        """Yield the trials of a drawn case: its views, the healthy text, and the program as handed out.

        `bugzoo verify` proves repairs and pretences of its fault on its program.
        """
        from bugzoo.grading.trials import VIEWS, Trial

        yield Trial(case.name, VIEWS, "", "")
        for trial in self.trials(case):
            if trial.kind not in ("solution", "unsolved"):
                break  # those come first, and the others need their texts made
            yield trial

    def sights(self, exercise: "Exercise") -> list[tuple[str, bool]]:
        """Return (text, healthy) of each program that is looked at: a healthy one shows no unusual number."""
        return [(exercise.handed_out, exercise.trap)]

    def ended(self, exercise: "Exercise") -> list[str]:
        """Return sentences on runs that end otherwise than its notebook says."""
        return []

    def claims(self, exercise: "Exercise") -> tuple[object, ...]:
        """Return what a repair's grade depends on besides the texts, the seeds and the scenario."""
        return ()

    def thin(self, exercise: "Exercise", trials: Sequence["Trial"]) -> list[str]:
        """Return sentences for too few hand-ins that prove it."""
        from bugzoo.grading.repairs import pretences
        from bugzoo.grading.trials import fewer

        specific = pretences(exercise.handed_out, *exercise.about_fault)
        correct = sum(trial.kind == "correct" for trial in trials)
        return fewer({"correct repairs": correct, "pretences of its own": len(specific)}, LEAST)

    def diagnoses(self, exercise: "Exercise") -> tuple[int, list[str]]:
        """Return how many diagnoses were graded, and sentences on wrong grades."""
        from bugzoo.grading.trials import diagnoses

        return diagnoses(exercise)

    def probe(self, exercise: "Exercise") -> dict[str, Any]:
        """Return the student's notebook with a wrong repair, a wrong diagnosis and a curious learner's cells."""
        from bugzoo.grading.trials.curious import probe

        return probe(exercise)

    def files(self, exercise: "Exercise") -> str:
        """Return what the learner's machine holds of it besides the notebook, for the search for names."""
        return ""
