"""What the pages show of a class: a line a student, made of the roster, the hand-ins, the results and the overrides."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from sqlite3 import Row
from typing import Any

from bugzoo.instructor import folder as files
from bugzoo.instructor import gradebook
from bugzoo.instructor.course import feedback as of_student
from bugzoo.instructor.lms import feedback
from bugzoo.instructor.lms.handin import Who
from bugzoo.instructor.lms.intake import Handed, absent
from bugzoo.instructor.lms.people import People
from bugzoo.instructor.records import ABSENT, MISSING, UNCLEAR, UNGRADED, Record
from bugzoo.instructor.serve.store import HandIn, Store
from bugzoo.instructor.submission import readable, shown

WAITING = "not graded yet"
MARKS = {
    "passed": ("✓", "good"), "wrong": ("✗", "bad"), "your code raised": ("!", "bad"), "not attempted": ("○", "idle"),
    UNGRADED: ("?", "ask"), UNCLEAR: ("?", "ask"), MISSING: ("–", "idle"), WAITING: ("…", "idle"),
}  # fmt: skip
"""state -> (a sign before its word, the kind of its colour): the word tells, and the rest repeats it."""


@dataclass(frozen=True)
class Facts:
    """What is asked about an assignment without torch."""

    name: str
    title: str
    max_points: float
    people: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> "Facts":
        """Of an assignment's folder. Raises UserError for one that is none."""
        key = files.key(folder)
        most = sum(float(key["points"].get(part, 0)) for part in ("repair", "diagnosis"))
        return cls(key["assignment"], key["title"], most, files.manifest(folder).get("students", {}))


@dataclass(frozen=True)
class Line:
    """One student. `record` is the grader's; `points` are those that count."""

    student: str
    name: str
    record: Record
    handin: HandIn | None = None
    graded_at: str = ""
    override: Row | None = None

    @property
    def state(self) -> str:
        return self.record.state

    @property
    def points(self) -> float | None:
        return self.override["points"] if self.override else self.record.points

    @property
    def why(self) -> str:
        return readable(gradebook.why(self.record))

    @property
    def mark(self) -> tuple[str, str]:
        return MARKS.get(self.state, ("?", "ask"))

    def part(self, name: str) -> str:
        """Points of repair or diagnosis."""
        found = getattr(self.record, name)
        return f"{found['points']:g}" if found else ""

    @property
    def counted(self) -> Record:
        """The record with the points that count, for a gradebook; it says where they are not the grader's."""
        if self.override is None:
            return self.record
        graded = "no points" if self.record.points is None else f"{self.record.points:g} points"
        said = f"points set by {self.override['by']}: {self.override['reason']} (the grader gave {graded})"
        return replace(self.record, points=self.override["points"], notes=[*self.record.notes, said])


@dataclass
class Class:
    """Everybody, and the hand-ins that are nobody's."""

    facts: Facts
    lines: list[Line] = field(default_factory=list)
    nobodys: list[Line] = field(default_factory=list)

    def of(self, student: str) -> Line | None:
        return next((one for one in self.lines if one.student == student), None)

    @property
    def counts(self) -> dict[str, int]:
        """How many handed in, wait, and so on."""
        handed = [one for one in self.lines if one.state not in ABSENT]
        waiting = sum(one.state == WAITING for one in handed + self.nobodys)
        asks = sum(one.mark[1] == "ask" for one in self.lines) + len(self.nobodys)
        overridden = sum(one.override is not None for one in self.lines)
        return {
            "students": len(self.lines), "handed in": len(handed), "not graded yet": waiting, "to be looked at": asks,
            "overridden": overridden,
        }  # fmt: skip

    def gradebook(self) -> str:
        """CSV as `bugzoo grade --csv` writes it; who is not graded yet has no score."""
        return gradebook.nbgrader(
            [one.counted for one in [*self.lines, *self.nobodys]], self.facts.name, self.facts.people
        )


def of(facts: Facts, store: Store) -> Class:
    """The class as it stands now."""
    last, results, found = store.last(), store.results(), Class(facts)
    overrides = {one["student"]: one for one in store.overrides()}
    for one in last:
        record, at = results.get(one.id) or (_waiting(one, facts), "")
        record = replace(
            record,
            student=one.student,
            matched=one.matched,
            unmatched=one.unmatched,
            timestamp=one.handed_at or one.at[:19],
        )
        line = Line(one.student, name(facts.people.get(one.student, {})), record, one, at, overrides.get(one.student))
        (found.nobodys if one.unmatched else found.lines).append(line)
    there = {one.student for one in found.lines}
    whos = {one.student: _who(one.who) for one in last if one.unmatched}
    handed = Handed(who=whos, people=People(facts.people, list(whos.values())))
    for student, about in facts.people.items():
        if student not in there:
            record = absent(student, handed, facts.max_points)
            found.lines.append(Line(student, name(about), record, override=overrides.get(student)))
    found.lines.sort(key=lambda one: one.student)
    return found


def name(about: dict[str, Any]) -> str:
    """How somebody of the roster is called."""
    whole = " ".join(str(about.get(part) or "") for part in ("first_name", "last_name")).strip()
    return shown(whole or about.get("name") or "")


def told(line: Line, comment: str) -> str:
    """The feedback for a student, as a text: what was seen and nothing of the answer, and the instructor's words."""
    said = [readable(one) for one in feedback.lines(line.record)]
    if line.points is not None:
        by_hand = " (set by the instructor)" if line.override else ""
        said.append(f"Points: {line.points:g} of {line.record.max_points:g}{by_hand}.")
    return "\n".join([*said, *(["", comment] if comment else [])]) + "\n"


def page(line: Line, title: str, picture: str, comment: str) -> str:
    """The same as a page of HTML, with the run beside the healthy one where that was drawn, and without the answers."""
    record = line.record
    if line.override:
        before = "no score" if record.points is None else f"{record.points:g}"
        given = f"{line.override['points']:g} points were given by hand instead of {before}: {line.override['reason']}"
        record = replace(record, points=line.override["points"], changes=[given])
    return of_student.page(record, title, picture, words=comment)


def _waiting(one: HandIn, facts: Facts) -> Record:
    if one.problem:
        return Record(one.student, UNGRADED, None, facts.max_points, one.problem, json.loads(one.notes))
    return Record(one.student, WAITING, None, facts.max_points)


def _who(text: str) -> Who:
    kept = json.loads(text)
    kept |= {part: tuple(map(_tuple, kept.get(part, ()))) for part in ("names", "ids", "numbers")}
    return Who(**kept)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
