"""Everybody's own variant, proved to show its faults before it is handed out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.grading.diagnosis import changed_lines
from bugzoo.grading.grade import tidy
from bugzoo.grading.healthy import recorded
from bugzoo.instructor import likely, pools
from bugzoo.instructor.model import Assignment
from bugzoo.instructor.pools import Case
from bugzoo.instructor.roster import Student
from bugzoo.instructor.variants import draw, variant
from bugzoo.instructor.visible import Progress, measure_variants
from bugzoo.lab.healthy_twin import Curve
from bugzoo.running.pool import run_all

ATTEMPTS = 8
ROOM = 2
"""Places that may differ beside a fault's own: a setting that it needs and that a dialect has moved elsewhere."""


@dataclass(frozen=True)
class Own:
    """One student's variant. `attempt` is how many draws before it did not show every fault."""

    student: Student
    assignment: Assignment
    tag: str
    attempt: int = 0
    curve: Curve | None = None
    """The healthy run beside which this student's is drawn."""

    def to_json(self) -> dict[str, Any]:
        one = self.student
        return {
            "last_name": one.last_name,
            "first_name": one.first_name,
            "email": one.email,
            "tag": self.tag,
            "attempt": self.attempt,
            "seed": self.assignment.seed,
            "faults": list(self.assignment.faults),
            "program": self.assignment.program,
            "dialect": self.assignment.dialect,
            "how_many": self.assignment.how_many,
            "ticket": self.assignment.ticket,
            "lines": likely.sketch(self.assignment.source),
        }


def draw_all(
    base: Assignment,
    specs: Sequence[str],
    students: Sequence[Student],
    secret: str,
    progress: Progress | None = None,
    cases: Sequence[Case] = (),
) -> list[Own]:
    """A variant for each student, in the order of the roster. `specs` are the faults with the parameters left open; where
    there are `cases`, everybody gets one of those instead.

    Each is run once: every fault's evidence must hold under the student's own seed and parameters; where it does not, the
    next draw of the same student is taken. Raises UserError when none of several does.
    """
    waiting = [(student, 0) for student in students]
    found: dict[str, Own] = {}
    while waiting:
        drawn = [_draw(base, specs, student, secret, attempt, cases) for student, attempt in waiting]
        before = len(found)

        def tell(done: int, _: int, before: int = before) -> None:
            if progress:
                progress(min(before + done, len(students) - 1), len(students))

        results = measure_variants([own.assignment for own in drawn], tell)
        waiting = []
        for own, result in zip(drawn, results, strict=True):
            if _all_show(own.assignment, result) and _as_small(own.assignment):
                found[own.student.id] = own
            elif own.attempt + 1 < ATTEMPTS:
                waiting.append((own.student, own.attempt + 1))
            else:
                raise UserError(
                    f"{ATTEMPTS} variants were drawn for {own.student.id}, and in none of them every fault shows, the last "
                    f"one being {', '.join(own.assignment.faults)} with seed {own.assignment.seed}. Leave less open. "
                    "Nothing was written."
                )
    if progress:
        progress(len(students), len(students))
    ordered = [found[student.id] for student in students]
    made = curves([own.assignment for own in ordered])
    return [replace(own, curve=curve) for own, curve in zip(ordered, made, strict=True)]


def refuse_what_hides(assignment: Assignment) -> None:
    """Raises UserError where a fault does not show, or is spread, in the dialects that everybody's text is written in."""
    (result,) = measure_variants([assignment])
    if not (_all_show(assignment, result) and _as_small(assignment)):
        raise UserError(
            f"In the dialects drawn from {assignment.dialect!r} not every fault shows as it does in the program's own words. "
            "Take another word for --dialect. Nothing was written."
        )


def _draw(
    base: Assignment, specs: Sequence[str], student: Student, secret: str, attempt: int, cases: Sequence[Case]
) -> Own:
    chosen = draw(secret, base.name, student.id, attempt)
    if cases:
        one = pools.of(chosen, cases)
        base, specs = replace(base, program=one.program, faults=one.faults), one.faults
    return Own(student, variant(base, tuple(specs), chosen), chosen.tag, attempt)


def curves(assignments: Sequence[Assignment], progress: Progress | None = None) -> list[Curve]:
    """The healthy run of each, under its own seed; what was run before is known. Raises UserError where one fails."""
    done = [0]

    def tell(*_: object) -> None:
        done[0] += 1
        if progress:
            progress(done[0], len(assignments))

    return run_all(_curve, list(assignments), on_done=tell)


def _curve(assignment: Assignment) -> Curve:
    return recorded(tidy(assignment.scenario.healthy().source), assignment.scenario.ranks)


def _as_small(assignment: Assignment) -> bool:
    """Whether broken and whole text lie as near to each other as in the program's own words."""
    plain = changed_lines(tidy(assignment.scenario.healthy().source), tidy(assignment.scenario.source))
    here = changed_lines(assignment.solution, assignment.source)
    return len(here) <= len(plain) + ROOM


def _all_show(assignment: Assignment, result: dict[str, Any]) -> bool:
    return all(parse(text).holds(result) for fault, _ in assignment.scenario.specs for text in fault.evidence)
