"""*two*: a repair of two faults, in any order, with a diagnosis form for each finding.

Each form accepts either cause, and each finding is half of the diagnosis. A repair of one fault earns half of the points. In
an assignment, which does not say how many faults it has, it earns less (`grade.HALF`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bugzoo.draws import Pick, settle
from bugzoo.grading.kinds.repair import Repair, Values

if TYPE_CHECKING:
    from bugzoo.grading.model import Exercise, Result
    from bugzoo.grading.trials import Trial

FORMS = ("first", "second")
"""Names of the forms in the notebook."""
INCOMPLETE = (
    "not attempted: your diagnosis is not complete. Choose a cause and its test in both forms above the program, keep them, "
    "then name the two lines and hand in each. If you have only one finding, choose “nothing is wrong” in the other form."
)
IN_TWO = 1.0
"""Share of the points that both repairs earn together: its learner is told to look for a second fault."""
ONE_OF_TWO = "One of two faults is repaired."


@dataclass(frozen=True)
class Two(Repair):
    """Find and repair two faults; each is visible beside the other. `points=(10.0, 10.0)` keeps a whole point for a part."""

    second: str
    """The spec of the second fault. Name it in the first one's `beside`; `bugzoo pairs --prove` proves the pair."""
    name: ClassVar[str] = "two"
    incomplete: ClassVar[str] = INCOMPLETE

    def faults(self, exercise: "Exercise") -> tuple[str, ...]:
        return (exercise.fault, self.second)

    def settled(self, pick: Pick) -> Repair:
        return replace(self, second=settle(self.second, pick))

    def forms(self, ticket: str) -> tuple[str, ...]:
        return tuple(f"{ticket}/{number}" for number in (1, 2))

    def accepted(self, exercise: "Exercise") -> dict[str, str]:
        """Return the healthy text, and each combination of right repairs."""
        from bugzoo.grading.halves import combined
        from bugzoo.grading.texts import healthy_text

        return {"solution": healthy_text(exercise)} | combined(exercise)

    def suspected(self, exercise: "Exercise") -> tuple[str, ...]:
        """Return the causes of the second fault."""
        from bugzoo.grading.answers import true_causes

        return true_causes(exercise, 1)

    def open_cells(self, exercise: "Exercise", answer: str) -> dict[str, str]:
        from bugzoo.grading.notebook import texts
        from bugzoo.grading.set_aside import SAID

        grading = texts("notebook")["grading-text"]
        calls = [f'{form} = cell.form("{exercise.name}", {number})' for number, form in enumerate(FORMS, 1)]
        return (
            super().open_cells(exercise, answer)
            | texts("two", grading=grading, person=SAID)
            | {
                "hypothesis": "\n".join(calls),
                "form": "\n".join(f"{form}.line()" for form in FORMS),
            }
        )

    def right_answer(self, exercise: "Exercise") -> str:
        """Return the calls that hand in both findings."""
        from bugzoo.grading.answers import filled
        from bugzoo.grading.notebook import hand_in

        calls = [hand_in(form, filled(exercise, of)) for of, form in enumerate(FORMS)]
        return "\n".join([*calls[:-1], f"filled = {calls[-1]}"])

    def grade(self, exercise: "Exercise", source: str, diagnosis: Values, options: Values) -> "Result":
        """Grade a repair; that of one of the faults earns half of the points."""
        result = super().grade(exercise, source, diagnosis, {"partly": IN_TWO, **options})
        half = result.status == "wrong" and result.share
        return replace(result, message=ONE_OF_TWO) if half else result

    def grade_diagnosis(self, exercise: "Exercise", record: Values) -> "Result":
        from bugzoo.grading.kinds.two.findings import grade

        return grade(exercise, record)

    def answered(self, exercise: "Exercise", record: Values | None, result: "Result") -> "Result":
        """Put an answer to each finding with a wrong cause in front of the message."""
        from bugzoo.grading.kinds.two.findings import answers

        sentences = answers(exercise, record) if result.status == "wrong" and record else ()
        return replace(result, message=" ".join(filter(None, [*sentences, result.message])))

    def trials(self, exercise: "Exercise") -> Iterator["Trial"]:
        from bugzoo.grading.kinds.two.proof import trials

        return trials(exercise)

    def of_an_end(self, case: "Exercise") -> Iterator["Trial"]:
        """Yield as well the repair of each fault that restores the healthy lines."""
        from bugzoo.grading.halves import PLAIN
        from bugzoo.grading.trials import HALF, VIEWS, Trial

        yield Trial(case.name, VIEWS, "", "")
        for trial in self.trials(case):
            if trial.kind in ("solution", "unsolved") or (trial.kind == HALF and trial.name.endswith(PLAIN)):
                yield trial

    def thin(self, exercise: "Exercise", trials: Sequence["Trial"]) -> list[str]:
        from bugzoo.grading.kinds.two.proof import thin

        return thin(exercise, trials)

    def diagnoses(self, exercise: "Exercise") -> tuple[int, list[str]]:
        from bugzoo.grading.kinds.two.proof import diagnoses

        return diagnoses(exercise)

    def probe(self, exercise: "Exercise") -> dict[str, Any]:
        from bugzoo.grading.trials.curious import probe

        return probe(exercise, FORMS)
