"""What a learner has done so far, as the record has it, beside what there is to do."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from math import ceil
from typing import Any

from bugzoo import lessons, record
from bugzoo.grading.declared import everything

ENOUGH = 0.8
"""A lesson counts as done with this share of its questions answered and of its tasks held: one may leave something out."""

KINDS = ("prediction", "quick check", "task")
"""What the record keeps of a lesson; each knows by itself whether it counts."""

SAT = ("finished", "time over", "given up")
"""An interview that was sat through, whichever way it ended."""

NOT_COUNTED = "not counted"


@dataclass(frozen=True)
class Lesson:
    """A numbered lesson: `done` of its `of` questions and tasks. `began`: something of it is in the record."""

    name: str
    title: str
    number: int
    minutes: float
    done: int
    of: int
    began: bool

    @property
    def link(self) -> str:
        return f"notebooks/{self.name}.ipynb"

    @property
    def state(self) -> str:
        if not self.of:
            return NOT_COUNTED
        if self.done >= ceil(ENOUGH * self.of):
            return "done"
        return "begun" if self.began else "open"


@dataclass(frozen=True)
class Exercise:
    """An exercise: `lesson` is the number of the lesson that owns it, whether that is written or not."""

    name: str
    title: str
    lesson: int
    attempts: int
    best: float
    passed: float | None
    """When it passed first, in seconds since 1970."""

    @property
    def number(self) -> str:
        return self.name.split("_")[0]

    @property
    def link(self) -> str:
        return f"exercises/{self.name}.ipynb"

    @property
    def state(self) -> str:
        if self.passed is not None:
            return "done"
        return "begun" if self.attempts else "open"


@dataclass(frozen=True)
class Standing:
    """Everything that the map is made of. Times are in seconds since 1970."""

    lessons: tuple[Lesson, ...]
    exercises: tuple[Exercise, ...]
    cards: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Family -> (right, answered)."""
    answered: tuple[float, ...] = ()
    """When each card was answered."""
    interviews: tuple[float, ...] = ()
    """When each interview that was sat through began."""
    best: float | None = None
    """The best share of an interview's points."""
    way: str = ""
    """The way that was chosen; empty while none is."""
    since: float = 0.0
    """When it was chosen: cards and interviews of a way count from there."""

    @property
    def weakest(self) -> str:
        """The family of cards with the smallest share right, of those that were asked for four times; empty where none is."""
        rated = {family: right / said for family, (right, said) in self.cards.items() if said >= 4 and right < said}
        return min(rated, key=lambda family: (rated[family], family), default="")

    def of_lesson(self, number: int) -> list[Exercise]:
        """The exercises that a lesson owns."""
        return [one for one in self.exercises if one.lesson == number]

    def to_json(self) -> dict[str, Any]:
        """Plain values; every lesson and exercise says how it stands."""
        cards = {family: {"right": right, "answered": said} for family, (right, said) in self.cards.items()}
        return {
            "lessons": [asdict(one) | {"state": one.state} for one in self.lessons],
            "exercises": [asdict(one) | {"state": one.state} for one in self.exercises],
            "cards": cards,
            "interviews": {"sat": len(self.interviews), "best": self.best},
        }


def standing() -> Standing:
    """Ask lessons, exercises and the record as they are now. Raises UserError for a record that cannot be read."""
    kept = record.all_kept(*KINDS, "way")
    said, sat = record.cards(), [one for one in record.interviews() if one["status"] in SAT]
    shares = [one["points"] / one["possible"] for one in sat if one["points"] is not None and one["possible"]]
    chosen = kept.get(("way", "chosen"), {})
    return Standing(
        _lessons(kept),
        _exercises(record.standing(), record.passes()),
        _by_family(said),
        tuple(one["at"] for one in said),
        tuple(one["started"] for one in sat),
        max(shares, default=None),
        str(chosen.get("name", "")),
        float(chosen.get("since", 0.0)),
    )


def nothing_done() -> Standing:
    """As on the first day: for a record that cannot be read."""
    return Standing(_lessons({}), _exercises({}, {}))


def _lessons(kept: dict[tuple[str, str], dict[str, Any]]) -> tuple[Lesson, ...]:
    """Those with a number; 00 is the map itself."""
    made = []
    for name, file in lessons.files().items():
        number = name.split("_")[0]
        if not number.isdigit() or not int(number):
            continue
        lesson = lessons.read(file)
        named = (("prediction", lesson.of("predict")), ("quick check", lesson.of("check")), ("task", lesson.of("task")))
        keys = [(kind, f"{number}/{cell.name}") for kind, cells in named for cell in cells]
        known = [(kind, kept[kind, key]) for kind, key in keys if (kind, key) in kept]
        title = lesson.title.partition("·")[2].strip() or lesson.title
        done = sum(_counts(kind, value) for kind, value in known)
        made.append(Lesson(name, title, int(number), lesson.minutes, done, len(keys), bool(known)))
    return tuple(made)


def _counts(kind: str, value: dict[str, Any]) -> bool:
    """Whether it was done, and not only run through with its neighbours."""
    if kind == "prediction":
        return bool(value.get("said") and value.get("revealed"))
    return bool(value.get("solved" if kind == "quick check" else "held"))


def _exercises(known: dict[str, dict[str, Any]], passed: dict[str, float]) -> tuple[Exercise, ...]:
    made = []
    for name, declared in everything().items():
        mine, number = known.get(name, {}), name.split("_")[0]
        owner = (int(number) + 2) // 3 if number.isdigit() else 0
        made.append(
            Exercise(name, declared.title, owner, mine.get("attempts", 0), mine.get("best", 0.0), passed.get(name))
        )
    return tuple(made)


def _by_family(said: Iterable[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for one in said:
        family = str(one.get("fault", "")).rpartition(":")[2].split("/")[0]
        right, many = found.get(family, (0, 0))
        found[family] = right + bool(one.get("right")), many + 1
    return dict(sorted(found.items()))
