"""The task of a class: an assignment's folder with its key, or one of the exercises. Both are graded alike."""

import hashlib
import json
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol

from bugzoo.errors import UserError
from bugzoo.grading import salt
from bugzoo.grading.answers import about, grade_diagnosis, right
from bugzoo.grading.exercises import exercises
from bugzoo.grading.exercises import load as load_exercise
from bugzoo.grading.grade import grade, grade_exercise
from bugzoo.grading.kinds.two.findings import KEY
from bugzoo.grading.model import Exercise, Result
from bugzoo.grading.notebook import build as build_exercise
from bugzoo.grading.texts import tidy
from bugzoo.instructor import findings, handout, key
from bugzoo.proving.code import grading

_VARIANT = ("tag", "seed", "faults")
"""The parts that a student's score depends on; names and addresses are not among them."""


class Gradable(Protocol):
    """How to grade one submission of a class."""

    name: str
    max_points: float
    people: dict[str, dict[str, Any]]
    """Student -> names and e-mail, if a roster was given."""

    def fingerprint(self) -> str:
        """Return a hash of everything that a score depends on, except the submission."""
        ...

    def original(self) -> dict[str, Any]:
        """Return the notebook as handed out."""
        ...

    def owner(self, student: str, tag: str) -> tuple[str, str]:
        """Return (whose variant this is, a note if it is not the student's own)."""
        ...

    def drawn(self) -> dict[str, str]:
        """Return the tag in a notebook -> the student for whom it was drawn; empty without variants."""
        ...

    def ticket(self, owner: str) -> str:
        """Return the ticket of `owner`'s notebook, which a form's record must name; "" where only typed calls count."""
        ...

    def handed_out(self, owner: str) -> str:
        """Return the text of `owner`'s program as handed out."""
        ...

    def repair(self, owner: str, source: str, records: list[dict[str, Any]], strict: bool, draw: int) -> Result: ...

    def diagnosis(self, owner: str, records: list[dict[str, Any]]) -> Result: ...


@dataclass
class AssignmentTask:
    """A folder that `bugzoo assign` made."""

    key: key.Key

    def __post_init__(self) -> None:
        self.name, self.max_points, self.people = self.key.assignment.name, self.key.max_points, dict(self.key.students)

    def fingerprint(self) -> str:
        variants = {name: [facts.get(part) for part in _VARIANT] for name, facts in self.key.students.items()}
        of_key = attrgetter("assignment", "answers", "seconds", "seeds", "salt")(self.key)
        parts = (grading(), *of_key, variants)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def original(self) -> dict[str, Any]:
        return json.loads(handout.build(self.key.assignment, "student", self.key.answers))

    def owner(self, student: str, tag: str) -> tuple[str, str]:
        expected = self.key.students.get(student, {}).get("tag", "")
        if not tag or tag == expected:
            return student, ""
        whose = self.drawn().get(tag)
        if not whose:
            return student, "it was drawn for a student who is not in the manifest"
        return whose, f"it is the notebook that was drawn for {whose}"

    def drawn(self) -> dict[str, str]:
        return {str(facts["tag"]): name for name, facts in self.key.students.items() if facts.get("tag")}

    def ticket(self, owner: str) -> str:
        return str(self.key.students.get(owner, {}).get("ticket") or self.key.assignment.scenario.ticket)

    def handed_out(self, owner: str) -> str:
        return tidy(self.key.of(owner)[0].scenario.source)

    def repair(self, owner: str, source: str, records: list[dict[str, Any]], strict: bool, draw: int) -> Result:
        assignment, _ = self.key.of(owner)
        most, case = assignment.points[0], assignment.scenario
        how = {"seeds": self.key.seeds, "seconds": self.key.seconds, "strict_isolation": strict, "draw": draw}
        with salt.used(self.key.salt):
            result = grade(source, case, attempted=False, **how)
        return replace(result, points=round(result.share * most, 4), max_points=most)

    def diagnosis(self, owner: str, records: list[dict[str, Any]]) -> Result:
        assignment, answers = self.key.of(owner)
        return findings.grade(answers, records, assignment.points[1])


@dataclass
class ExerciseTask:
    """One of the exercises that come with bugzoo."""

    exercise: Exercise

    def __post_init__(self) -> None:
        self.name, self.max_points, self.people = self.exercise.name, sum(self.exercise.points), {}
        self.salt = salt.drawn()  # also where another machine of a cluster grades

    def fingerprint(self) -> str:
        answers = [right(self.exercise, of) for of in range(len(self.exercise.faults))]
        parts = (grading(), self.exercise, answers, about(self.exercise), self.salt)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def original(self) -> dict[str, Any]:
        return json.loads(build_exercise(self.exercise, "student"))

    def owner(self, student: str, tag: str) -> tuple[str, str]:
        return student, ""

    def drawn(self) -> dict[str, str]:
        return {}

    def ticket(self, owner: str) -> str:
        return ""

    def handed_out(self, owner: str) -> str:
        return self.exercise.handed_out

    def repair(self, owner: str, source: str, records: list[dict[str, Any]], strict: bool, draw: int) -> Result:
        with salt.used(self.salt):
            return grade_exercise(self.name, source, self._given(records), strict_isolation=strict, draw=draw)

    def diagnosis(self, owner: str, records: list[dict[str, Any]]) -> Result:
        return grade_diagnosis(self.name, self._given(records))

    def _given(self, records: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the record of the exercise's form; of two findings both."""
        return {KEY: records[:2]} if len(self.exercise.forms) > 1 else _one(records)


def _one(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the record of an exercise's single form."""
    return next((record for record in records if record.get("cause")), {})


def load(given: str) -> Gradable:
    """Return the task of `--assignment`: a folder, or an exercise by name or number. Raises UserError."""
    path = Path(given)
    if path.is_dir():
        return AssignmentTask(key.read(path))
    if "/" in given or path.exists():
        raise UserError(f"--assignment {given}: there is no such folder. `bugzoo assign` creates one.")
    try:
        return ExerciseTask(load_exercise(given))
    except UserError:
        problem = f"--assignment {given}: there is no folder and no exercise of that name."
        raise UserError(f"{problem} The exercises are {', '.join(exercises())}.") from None
