"""The answer key: each fault, its lines, the views that show it, and all that grading needs.

Only the instructor has it. It is outside the notebooks, since nbgrader's feedback pages show hidden tests.
"""

import hashlib
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading import diagnosis
from bugzoo.grading.repairs import repairs
from bugzoo.grading.texts import tidy
from bugzoo.instructor import folder as files
from bugzoo.instructor.model import GRADING_SEEDS, Assignment

_OF_ASSIGNMENT = ("title", "story", "program", "faults", "seed", "size")
"""Fields of an assignment that the key holds under their own names."""


@dataclass(frozen=True)
class Answer:
    """The right finding for one fault. `places` are line ranges (from 1, inclusive) of the program as handed out."""

    fault: str
    spec: str
    title: str
    cause: str
    places: list[tuple[int, int]]
    evidence: list[str]
    """Views that show it: those of its own evidence, and of the instruments measured to fire in the combination."""
    why: str = ""
    fix: str = ""
    causes: list[str] = field(default_factory=list)
    """Every cause of the form that is right for it, `cause` included."""

    @property
    def right(self) -> diagnosis.Right:
        """Return it in the form that the diagnosis grader takes."""
        places = tuple((first, last) for first, last in self.places)
        return diagnosis.Right(tuple(self.causes or [self.cause]), places, tuple(self.evidence))


def answers(assignment: Assignment, telling: dict[str, list[str]] | None = None) -> list[Answer]:
    """Return one answer per fault. `telling`: fault id -> instruments that were seen to fire for it."""
    entries = []
    for (fault, params), spec in zip(assignment.scenario.specs, assignment.faults, strict=True):
        broken, mended = assignment.source, tidy(assignment.half(fault.id).source)
        accepted = [mended, *repairs(broken, fault, params).values()]
        right = diagnosis.right(fault, params, broken, accepted)
        lines = diagnosis.changed_lines(mended, broken)  # first: a line of the fault's own
        places = list(dict.fromkeys([*lines, *right.places]))
        views = diagnosis.seen_in([*right.evidence, *(telling or {}).get(fault.id, [])])
        about = (fault.title, right.causes[0], places, views, fault.why, fault.fix, list(right.causes))
        entries.append(Answer(fault.id, spec, *about))
    return entries


@dataclass(frozen=True)
class Key:
    """`key.json`, read back. `students` maps an id to the seed and specs of that student's variant."""

    assignment: Assignment
    answers: list[Answer]
    seconds: float
    """Time limit of one run of a submission, in seconds."""
    seeds: tuple[int, ...]
    students: dict[str, dict[str, Any]]
    max_points: float
    salt: str = ""
    """The salt of the grader's draws; empty in a key that is older than salts."""

    def of(self, student: str) -> tuple[Assignment, list[Answer]]:
        """Return assignment and answers for one student: their own variant, or the shared one."""
        variant = self.students.get(student)
        if variant is None or "seed" not in variant:
            return self.assignment, self.answers
        assignment = replace(self.assignment, faults=tuple(variant["faults"]), seed=variant["seed"])
        telling = {answer.fault: answer.evidence for answer in self.answers}
        return assignment, answers(assignment, telling)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def to_json(assignment: Assignment, found: list[Answer], seconds: float) -> dict[str, Any]:
    """Return the content of `key.json`."""
    return {
        "format": files.FORMAT,
        "assignment": assignment.name,
        **{name: getattr(assignment, name) for name in _OF_ASSIGNMENT},
        "points": {"repair": assignment.points[0], "diagnosis": assignment.points[1]},
        "grading": {"seeds": list(GRADING_SEEDS), "seconds": round(seconds, 1), "salt": assignment.salt},
        "handed_out": digest(assignment.source),
        "solution": digest(assignment.solution),
        "answers": [asdict(answer) for answer in found],
        "diff": assignment.scenario.diff(),
        "made_with": {name: version(name) for name in ("bugzoo", "torch")},
    }


def read(folder: Path) -> Key:
    """Return the key of an assignment's folder. Raises UserError if it is missing or the program has changed."""
    path, fields = folder / files.FOLDER / files.FILE, files.key(folder)
    try:
        points = (fields["points"]["repair"], fields["points"]["diagnosis"])
        assignment = Assignment(points=points, **{name: fields[name] for name in _OF_ASSIGNMENT})
        entries = [Answer(**value) for value in fields["answers"]]
        grading, handed_out, made_with = fields["grading"], fields["handed_out"], fields["made_with"]
        seconds, seeds, salt = float(grading["seconds"]), tuple(grading["seeds"]), str(grading.get("salt", ""))
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} could not be read: {error}.") from None
    if digest(assignment.source) != handed_out:
        raise UserError(
            f"{path} is from bugzoo {made_with.get('bugzoo')}, and the program {assignment.program} or its faults "
            "have changed since. Grade with that version, or run `bugzoo assign` again."
        )
    return Key(assignment, entries, seconds, seeds, files.drawn(folder), sum(points), salt)
