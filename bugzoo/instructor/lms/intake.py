"""From a folder or a zip to submissions of a class: which system made it, whose each hand-in is, and what was left aside."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from bugzoo.errors import unknown
from bugzoo.instructor import submission
from bugzoo.instructor.lms import canvas, gradescope, moodle, nbgrader
from bugzoo.instructor.lms.handin import HandIn, Who
from bugzoo.instructor.lms.people import People
from bugzoo.instructor.lms.tree import Left, Tree, opened
from bugzoo.instructor.records import MISSING, UNCLEAR, Record
from bugzoo.instructor.submission import Submission, shown

SYSTEMS: dict[str, ModuleType] = {
    "nbgrader": nbgrader, "canvas": canvas, "moodle": moodle, "gradescope": gradescope
}  # fmt: skip


@dataclass
class Handed:
    """What a class handed in. `who` says, for each unmatched one, what is known of its author."""

    found: list[Submission] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    system: str = "nbgrader"
    who: dict[str, Who] = field(default_factory=dict)
    people: People = field(default_factory=lambda: People({}))

    @property
    def unmatched(self) -> list[Submission]:
        return [one for one in self.found if one.unmatched]

    def perhaps(self, student: str) -> list[str]:
        """Unmatched hand-ins that could be this student's."""
        mine = next((one for one in self.people.all if one.id == student), None)
        return [name for name, who in self.who.items() if mine and self.people.could_be(who, mine)]


def collect(
    source: Path,
    name: str,
    original: Mapping[str, Any],
    people: Mapping[str, Mapping[str, Any]] | None = None,
    system: str | None = None,
) -> Handed:
    """Everything handed in, read, one entry a student and in the order of their names. Raises UserError.

    `people`: id -> facts of the roster; empty where there is none, and everybody is called as the files are. `system`
    says whose download it is where the names do not.
    """
    with gathered(source, name, people, system) as handed:
        handed.found = [submission.read(one, original, name) for one in handed.found]
    handed.found.sort(key=lambda one: one.student)
    return handed


@contextlib.contextmanager
def gathered(
    source: Path, name: str, people: Mapping[str, Mapping[str, Any]] | None = None, system: str | None = None
) -> Iterator[Handed]:
    """Everything handed in, matched and not read: the files lie where `path` says for as long as the block lasts.

    Raises UserError.
    """
    if system is not None and system not in SYSTEMS:
        raise unknown("system", system, SYSTEMS, "bugzoo grade --help")
    with opened(source) as tree:
        tree, system = _known(tree, name, system, source.is_file())
        handed = matched(SYSTEMS[system].gather(tree, name), people or {})
        handed.left, handed.system = tree.left, system
        handed.found = [
            replace(one, handed=f"{shown(source)}/{one.handed}" if one.handed else "") for one in handed.found
        ]
        yield handed


def _known(tree: Tree, name: str, system: str | None, zipped: bool) -> tuple[Tree, str]:
    """The tree that begins at the hand-ins, and the system that most of its names speak for."""
    if not tree.top and len(tree.folders) == 1 and _wraps(tree, name, zipped):
        tree = tree.below(tree.folders[0])
    if system:
        return tree, system
    counted = {one: module.fits(tree) for one, module in SYSTEMS.items()}
    best = max(counted, key=lambda one: counted[one])
    return tree, best if counted[best] else "nbgrader"


def _wraps(tree: Tree, name: str, zipped: bool) -> bool:
    """Whether the only folder at the top is the download's own, and not a student's."""
    below = tree.below(tree.folders[0])
    if any(module.fits(tree) for module in SYSTEMS.values()):
        return False
    if any(module.fits(below) for module in SYSTEMS.values()):
        return True
    books = [file for file in below.files if file.suffix == ".ipynb"]
    if not zipped or any(file.parts[:-1] in ((), (name,)) and file.stem == name for file in books):
        return False
    return len(books) > 1 or any(len(file.parts) == 3 and file.parts[1] == name for file in books)


def matched(hand_ins: list[HandIn], people: Mapping[str, Mapping[str, Any]]) -> Handed:
    """Whose each hand-in is, by the people of a roster; where there are none, everybody is called as the files are."""
    asked = People(people, [one.who for one in hand_ins])
    handed = Handed(people=asked)
    by_student: dict[str, list[tuple[HandIn, Submission]]] = {}
    for one in hand_ins:
        student, how = asked.find(one.who) if people else (one.label, "")
        unmatched = "" if student else how
        label = student or (f"{one.label} (unmatched)" if one.label in people else one.label)
        path = one.file.path if one.file else None
        made = Submission(label, path, one.problem, notes=one.notes, timestamp=one.timestamp, place=one.place)
        made = replace(made, unmatched=unmatched, matched="" if unmatched else how, handed=str(one.file or ""))
        by_student.setdefault(label, []).append((one, made))
    for label, several in by_student.items():
        chosen = once([made for _, made in several])
        handed.found.append(chosen)
        if chosen.unmatched:
            handed.who[label] = several[0][0].who
    return handed


def absent(name: str, handed: Handed, max_points: float) -> Record:
    """Nothing was found of this student: a zero only where none of the unmatched hand-ins could be theirs."""
    others = handed.perhaps(name)
    if not others:
        return Record(name, MISSING, 0.0, max_points)
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    said = f"{len(others)} unmatched hand-in{'s' if len(others) > 1 else ''} could be theirs: {', '.join(others[:3])}{more}"
    return Record(name, UNCLEAR, None, max_points, said)


def once(several: list[Submission]) -> Submission:
    """One entry a student: of two notebooks none is graded, as nobody says which one counts."""
    books = [one for one in several if not one.problem]
    if len(several) == 1:
        return several[0]
    first = several[0]
    if len(books) == 1:
        others = tuple(f"beside it: {one.problem}" for one in several if one.problem)
        return replace(books[0], notes=(*books[0].notes, *others))
    if not books:
        return replace(first, problem="; ".join(dict.fromkeys(one.problem for one in several)))
    names = ", ".join(one.handed for one in books[:4])
    return replace(
        first,
        path=None,
        problem=f"there are {len(books)} hand-ins of {first.student} ({names}); keep the one that counts",
        unmatched=first.unmatched,
    )


def find(folder: Path, name: str) -> list[Submission]:
    """Who handed in, by nbgrader's tree, in alphabetical order; the files are not opened yet. Raises UserError."""
    with opened(folder) as tree:
        return matched(nbgrader.gather(tree, name), {}).found
