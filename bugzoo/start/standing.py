"""Where a learner stands: for each lesson what was answered, written and repaired, from the record on this machine."""

from dataclasses import dataclass, field

from bugzoo import course, record
from bugzoo.course import Lesson
from bugzoo.errors import UserError
from bugzoo.grading.exercises import exercises
from bugzoo.start.ways import WAYS

ASKED = {"check": "quick check", "predict": "prediction", "draw": "drawing"}
"""Kind of a lesson's cell -> kind of its entry in the record."""


@dataclass(frozen=True)
class Practice:
    """One exercise of a lesson."""

    name: str
    title: str
    tried: bool
    passed: bool

    @property
    def link(self) -> str:
        """Path of its notebook from the folder of the lessons."""
        return f"../exercises/{self.name}.ipynb"


@dataclass(frozen=True)
class Tile:
    """One lesson on the map; the last tile holds the exercises of lessons that do not exist yet."""

    number: str
    """Such as 02; empty for the last tile."""
    title: str
    link: str
    answered: int
    questions: int
    held: int
    """Tasks whose code passed."""
    tasks: int
    exercises: tuple[Practice, ...] = field(default=())

    @property
    def begun(self) -> bool:
        return bool(self.answered or self.held)

    @property
    def done(self) -> bool:
        """The lesson's tasks are solved. Answers are not counted: a wrong one teaches as well."""
        return self.held == self.tasks


def tiles() -> list[Tile]:
    """Return the lessons that exist, in order. A record that cannot be read counts as empty."""
    try:
        repaired = record.standing()
    except UserError as error:
        record.remark(error)
        repaired = {}
    practice = [
        Practice(name, exercise.title, name in repaired, bool(repaired.get(name, {}).get("passed")))
        for name, exercise in exercises().items()
    ]
    found = [
        _tile(course.read(file), name, practice)
        for name, file in course.files().items()
        if name[:2].isdigit() and name[:2] != "00"
    ]
    there = {int(tile.number) for tile in found}
    rest = tuple(one for one in practice if lesson_of(one.name) not in there)
    return [*found, Tile("", "More exercises", "", 0, 0, 0, 0, rest)] if rest else found


def _tile(lesson: Lesson, name: str, practice: list[Practice]) -> Tile:
    asked = [(kind, cell.name) for kind in ASKED for cell in lesson.of(kind)]
    own = f"{lesson.number}/"
    mine = [one for one in practice if lesson_of(one.name) == int(lesson.number)]
    return Tile(
        lesson.number,
        lesson.title.partition("· ")[2] or lesson.title,
        f"{name}.ipynb",
        sum(_answered(kind, own + key) for kind, key in asked),
        len(asked),
        sum(bool((record.kept("task", own + key) or {}).get("held")) for key in lesson.tasks),
        len(lesson.tasks),
        tuple(mine),
    )


def _answered(kind: str, key: str) -> bool:
    kept = record.kept(ASKED[kind], key) or {}
    return bool(kept.get("said") or kept.get("tries"))


def lesson_of(exercise: str) -> int:
    """Return the number of the lesson that an exercise belongs to: there are three for each, in order."""
    return (int(exercise[:2]) - 1) // 3 + 1


def next_step(found: list[Tile], way: str) -> tuple[str, str]:
    """Return (what to do next, its link). `way`: a key of `ways.WAYS`."""
    first = WAYS[way].first
    place = {number: at for at, number in enumerate(first)}
    for tile in sorted(found, key=lambda one: (place.get(one.number, len(first)), one.number == "", one.number)):
        if not tile.done:
            return f"Lesson {tile.number}, {tile.title}", tile.link
        for one in tile.exercises:
            if not one.passed:
                return f"Exercise {one.name[:2]}, {one.title}", one.link
    return WAYS[way].end
