"""One variant per student, proved to show its faults before it is handed out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bugzoo.draws import draw
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.instructor.model import Assignment
from bugzoo.instructor.roster import Student
from bugzoo.instructor.variants import variant
from bugzoo.instructor.visible import Progress, measure

ATTEMPTS = 8


@dataclass(frozen=True)
class Own:
    """One student's variant. `attempt` is how many earlier draws did not show every fault."""

    student: Student
    assignment: Assignment
    tag: str
    attempt: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            **{part: getattr(self.student, part) for part in ("last_name", "first_name", "email")},
            "tag": self.tag,
            "attempt": self.attempt,
            "seed": self.assignment.seed,
            "faults": list(self.assignment.faults),
            "ticket": self.assignment.scenario.ticket,
        }


def draw_all(
    base: Assignment, specs: Sequence[str], students: Sequence[Student], secret: str, progress: Progress | None = None
) -> list[Own]:
    """Draw a variant for each student, in the roster's order. `specs` are the faults with open parameters.

    Each is run once: every fault's evidence must hold under the student's own seed and parameters. If it does not, the
    student gets the next draw. Raises UserError if all draws fail.
    """
    waiting = [(student, 0) for student in students]
    by_student: dict[str, Own] = {}
    while waiting:
        variants = [_draw(base, specs, student, secret, attempt) for student, attempt in waiting]
        before = len(by_student)

        def tell(done: int, _: int, before: int = before) -> None:
            if progress:
                progress(min(before + done, len(students) - 1), len(students))

        results = measure([trial.assignment.scenario for trial in variants], tell)
        waiting = []
        for trial, result in zip(variants, results, strict=True):
            if _all_show(trial.assignment, result):
                by_student[trial.student.id] = trial
            elif trial.attempt + 1 < ATTEMPTS:
                waiting.append((trial.student, trial.attempt + 1))
            else:
                problem = f"{ATTEMPTS} variants were drawn for {trial.student.id}, and each hides at least one fault."
                last = f"{', '.join(trial.assignment.faults)} with seed {trial.assignment.seed}"
                raise UserError(f"{problem} The last was {last}. Narrow the open parameters. Nothing was written.")
    if progress:
        progress(len(students), len(students))
    return [by_student[student.id] for student in students]


def _draw(base: Assignment, specs: Sequence[str], student: Student, secret: str, attempt: int) -> Own:
    chosen = draw(secret, base.name, student.id, attempt)
    return Own(student, variant(base, tuple(specs), chosen), chosen.tag, attempt)


def _all_show(assignment: Assignment, result: dict[str, Any]) -> bool:
    return all(parse(text).holds(result) for fault, _ in assignment.scenario.specs for text in fault.evidence)
