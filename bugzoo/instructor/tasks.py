"""What a class was asked: an assignment's folder with its key, or one of the exercises. All are graded alike.

`to_grade` gives whatever can be graded; `load` only what asks for a repair, as pages, likeness and items are about repairs.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from bugzoo.errors import UserError
from bugzoo.grading.answers import about, grade_diagnosis, right
from bugzoo.grading.exercises import exercises
from bugzoo.grading.exercises import load as load_exercise
from bugzoo.grading.grade import grade, grade_exercise, handed_out, healthy_text, same_program
from bugzoo.grading.model import UNCHANGED, Exercise, Result
from bugzoo.grading.notebook import build as build_exercise
from bugzoo.grading.program import join, split
from bugzoo.instructor import diagnosis_cell, findings, handout, key, likely, other_tasks
from bugzoo.instructor.key import Answer
from bugzoo.instructor.submission import Submission
from bugzoo.proving.code import grading
from bugzoo.scenario import Scenario

_VARIANT = ("tag", "seed", "program", "faults", "dialect", "how_many")
"""What a student's score depends on; names and addresses are not of it."""


class Task(Protocol):
    """How to grade one submission of a class."""

    name: str
    title: str
    max_points: float
    points: tuple[float, float]
    """For the repair and for the diagnosis."""
    cells: tuple[str, str]
    """The notebook's graded cells for these two; empty where one of them is not asked for."""
    people: dict[str, dict[str, Any]]
    """student -> names and e-mail, where a roster was given."""

    def fingerprint(self) -> str:
        """Changes with anything that a score depends on, but the submission."""
        ...

    def original(self) -> dict[str, Any]:
        """The notebook as handed out."""
        ...

    def owner(self, student: str, tag: str) -> tuple[str, str]:
        """(whose variant this is, a note when it is not the student's own)."""
        ...

    def looks(self, student: str, source: str) -> str:
        """A note where the text is somebody else's variant, whatever its notebook says; empty where it is not."""
        ...

    def said(self, text: str, strict: bool) -> tuple[list[dict[str, Any]], str]:
        """(what was filled into the answer cell, why it failed or ""). Raises RuntimeError where the machine fails."""
        ...

    def repair(self, owner: str, source: str, records: list[dict[str, Any]], strict: bool) -> Result | None:
        """None where none is asked for."""
        ...

    def diagnosis(self, owner: str, records: list[dict[str, Any]]) -> Result | None:
        """None where none is asked for."""
        ...

    def handed_out(self, owner: str) -> str:
        """The text of the program that this owner got; empty where none is shown."""
        ...


class RepairTask(Task, Protocol):
    """One that asks for a diagnosis and a repair: what else is known of it."""

    def case(self, owner: str) -> Scenario:
        """Program and faults that this owner's variant has."""
        ...

    def healthy(self, owner: str) -> str:
        """The same without the faults."""
        ...

    def answers(self, owner: str) -> list[Answer]:
        """The right findings, one a fault that is to be diagnosed."""
        ...


class _Forms:
    """Asks for a repair and a diagnosis."""

    cells: tuple[str, str] = ("repair", "diagnosis")

    def said(self, text: str, strict: bool) -> tuple[list[dict[str, Any]], str]:
        return diagnosis_cell.records(text, strict)


@dataclass
class AssignmentTask(_Forms):
    """A folder that `bugzoo assign` made."""

    key: key.Key

    def __post_init__(self) -> None:
        self.name, self.max_points, self.people = self.key.assignment.name, self.key.max_points, dict(self.key.students)
        self.title, self.points = self.key.assignment.title, self.key.assignment.points

    def fingerprint(self) -> str:
        own = {name: [facts.get(part) for part in _VARIANT] for name, facts in self.key.students.items()}
        found = (grading(), self.key.assignment, self.key.answers, self.key.seconds, self.key.seeds, own)
        return hashlib.sha256(repr(found).encode()).hexdigest()

    def original(self) -> dict[str, Any]:
        return json.loads(handout.build(self.key.assignment, "student", self.key.answers))

    def owner(self, student: str, tag: str) -> tuple[str, str]:
        own = self.key.students.get(student, {}).get("tag", "")
        if not tag or tag == own:
            return student, ""
        whose = [name for name, facts in self.key.students.items() if facts.get("tag") == tag]
        if not whose:
            return student, "its variant is nobody's in the manifest"
        return whose[0], f"it is the notebook that was drawn for {whose[0]}"

    def looks(self, student: str, source: str) -> str:
        return likely.somebody_elses(source, student, self.key.students)

    def repair(self, owner: str, source: str, records: list[dict[str, Any]], strict: bool) -> Result:
        mine, _ = self.key.of(owner)
        most, seconds = mine.points[0], self.key.seconds
        if same_program(source, mine.source):  # in the dialects in which this owner got it
            return Result("not attempted", message=UNCHANGED, max_points=most)
        result = grade(
            source, mine.scenario, seeds=self.key.seeds, seconds=seconds, strict_isolation=strict, attempted=False
        )
        share = mine.credit.share(result, mine.ids)
        return replace(result, share=share, points=round(share * most, 4), max_points=most)

    def diagnosis(self, owner: str, records: list[dict[str, Any]]) -> Result:
        mine, answers = self.key.of(owner)
        return findings.grade(answers, records, mine.points[1], mine.credit)

    def case(self, owner: str) -> Scenario:
        return self.key.own(owner).scenario

    def handed_out(self, owner: str) -> str:
        return self.key.own(owner).source

    def healthy(self, owner: str) -> str:
        return self.key.own(owner).solution

    def answers(self, owner: str) -> list[Answer]:
        return self.key.of(owner)[1]


@dataclass
class ExerciseTask(_Forms):
    """One of the exercises that bugzoo brings."""

    exercise: Exercise

    def __post_init__(self) -> None:
        self.name, self.max_points, self.people = self.exercise.name, sum(self.exercise.points), {}
        self.title, self.points = self.exercise.title, self.exercise.points

    def fingerprint(self) -> str:
        found = (grading(), self.exercise, right(self.exercise), about(self.exercise))
        return hashlib.sha256(repr(found).encode()).hexdigest()

    def original(self) -> dict[str, Any]:
        return json.loads(build_exercise(self.exercise, "student"))

    def owner(self, student: str, tag: str) -> tuple[str, str]:
        return student, ""

    def looks(self, student: str, source: str) -> str:
        return ""

    def repair(self, owner: str, source: str, records: list[dict[str, Any]], strict: bool) -> Result:
        return grade_exercise(self.name, source, _one(records), strict_isolation=strict)

    def diagnosis(self, owner: str, records: list[dict[str, Any]]) -> Result:
        return grade_diagnosis(self.name, _one(records))

    def case(self, owner: str) -> Scenario:
        return self.exercise.scenario

    def handed_out(self, owner: str) -> str:
        return handed_out(self.exercise)

    def healthy(self, owner: str) -> str:
        return healthy_text(self.exercise)

    def answers(self, owner: str) -> list[Answer]:
        told, fault = right(self.exercise), self.exercise.about_fault[0]
        places, evidence = list(told.places), list(told.evidence)
        causes = list(told.causes)
        about = (fault.title, causes[0], places, evidence, fault.why, fault.fix, causes)
        return [Answer(fault.id, self.exercise.fault, *about)]


def program_of(one: Submission, task: Task, owner: str) -> str:
    """The program that was handed in; a section without a cell is the owner's as it was handed out."""
    if not (one.sections or one.missing):
        return ""  # a line-up shows no program
    given = split(task.handed_out(owner)) if one.missing else {}
    return join({**given, **one.sections})


def _one(records: list[dict[str, Any]]) -> dict[str, Any]:
    """An exercise has one form."""
    return next((record for record in records if record.get("cause")), {})


def to_grade(given: str) -> Task:
    """As `load`, and also an exercise that asks for no repair: a line-up, or a change that breaks. Raises UserError."""
    other: Task | None = None if Path(given).is_dir() else other_tasks.load(given)
    return other or load(given)


def load(given: str) -> RepairTask:
    """The task of `--assignment`: a folder, or an exercise by name or number, which asks for a repair. Raises UserError."""
    path = Path(given)
    if path.is_dir():
        return AssignmentTask(key.read(path))
    if "/" in given or path.exists():
        raise UserError(f"--assignment {given}: there is no such folder. `bugzoo assign` makes one.")
    try:
        return ExerciseTask(load_exercise(given))
    except UserError:
        raise UserError(
            f"--assignment {given}: there is neither a folder nor an exercise of that name. The exercises are "
            f"{', '.join(exercises())}."
        ) from None
