"""Where a learner stands: for each lesson what was answered, written and repaired, from the record on this machine."""

import json
from dataclasses import dataclass, field

from bugzoo import course, material, record
from bugzoo.course import Lesson
from bugzoo.errors import UserError
from bugzoo.grading.debrief import from_the_run
from bugzoo.grading.exercises import exercises
from bugzoo.scenario import Scenario
from bugzoo.start.planned import planned
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
    level: int = 0
    """From 1 to 5; 0 if its notebook does not say."""
    minutes: int = 0
    from_the_run: bool = False
    """A right cause was named before the program was opened."""

    @property
    def link(self) -> str:
        """Path of its notebook from the folder of the lessons."""
        return f"../exercises/{self.name}.ipynb"


@dataclass(frozen=True)
class Tile:
    """One lesson on the map, also one that comes later; the last tile holds the exercises of lessons that come later."""

    number: str
    """Such as 02; empty for the last tile."""
    title: str
    link: str = ""
    """Empty for a lesson that comes later, and for the last tile."""
    answered: int = 0
    questions: int = 0
    held: int = 0
    """Tasks whose code passed."""
    tasks: int = 0
    done: bool = True
    """The lesson's transfer is handed in: a diagnosis of its last case. Right or wrong is not asked."""
    exercises: tuple[Practice, ...] = field(default=())

    @property
    def heading(self) -> str:
        """Return the title, after the number of a lesson."""
        return f"{self.number} · {self.title}" if self.number else self.title

    @property
    def state(self) -> str:
        """Return "done", "begun", "open" or "later"; "" for the last tile."""
        if not self.link:
            return "later" if self.number else ""
        return "done" if self.done else "begun" if self.answered or self.held else "open"


def tiles() -> list[Tile]:
    """Return the lessons in order, those that come later too. A record that cannot be read counts as empty."""
    try:
        repaired = record.standing()
    except UserError as error:
        record.remark(error)
        repaired = {}
    efforts = {file.stem: material.effort(json.loads(file.read_text("utf-8"))) for file in material.exercise_files()}
    practice = []
    for name, exercise in exercises().items():
        tried, effort = name in repaired, efforts.get(name, {})
        passed = bool(repaired.get(name, {}).get("passed"))
        from_run = tried and bool(from_the_run(exercise))
        practice.append(Practice(name, exercise.title, tried, passed, from_the_run=from_run, **effort))
    files = {name: file for name, file in course.files().items() if name[:2].isdigit() and name[:2] != "00"}
    there = [_tile(course.read(file), name, practice) for name, file in files.items()]
    numbers = {int(tile.number) for tile in there}
    later = [Tile(number, title) for number, title in planned().items()]
    rest = tuple(exercise for exercise in practice if lesson_of(exercise.name) not in numbers)
    more = [Tile("", "More exercises", exercises=rest)] if rest else []
    return sorted([*there, *later], key=lambda tile: tile.number) + more


def _tile(lesson: Lesson, name: str, practice: list[Practice]) -> Tile:
    questions = [(kind, cell.name) for kind in ASKED for cell in lesson.of(kind)]
    prefix = f"{lesson.number}/"
    held = sum(bool((record.kept("task", prefix + key) or {}).get("held")) for key in lesson.tasks)
    return Tile(
        lesson.number,
        lesson.title.partition("· ")[2] or lesson.title,
        f"{name}.ipynb",
        sum(_answered(kind, prefix + key) for kind, key in questions),
        len(questions),
        held,
        len(lesson.tasks),
        handed_in(lesson) if lesson.transfer else held == len(lesson.tasks),
        tuple(exercise for exercise in practice if lesson_of(exercise.name) == int(lesson.number)),
    )


def handed_in(lesson: Lesson) -> bool:
    """Return whether the record has a diagnosis of the lesson's transfer: its form notes one under the case's ticket."""
    return record.diagnosis(Scenario(*lesson.case(lesson.transfer)).ticket) is not None


def _answered(kind: str, key: str) -> bool:
    entry = record.kept(ASKED[kind], key) or {}
    return bool(entry.get("said") or entry.get("tries"))


def lesson_of(exercise: str) -> int:
    """Return the number of the lesson that an exercise belongs to: the one that it names, else three for each, in order."""
    return exercises()[exercise].lesson or (int(exercise[:2]) - 1) // 3 + 1


def next_step(found: list[Tile], way: str) -> tuple[str, str]:
    """Return (what to do next, its link). `way`: a key of `ways.WAYS`."""
    first = WAYS[way].first
    place = {number: at for at, number in enumerate(first)}
    for tile in sorted(found, key=lambda one: (place.get(one.number, len(first)), one.number == "", one.number)):
        if not tile.done:
            return f"Lesson {tile.number}, {tile.title}", tile.link
        for exercise in tile.exercises:
            if not exercise.passed:
                return f"Exercise {exercise.name[:2]}, {exercise.title}", exercise.link
    return WAYS[way].end
