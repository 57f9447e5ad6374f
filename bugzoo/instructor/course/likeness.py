"""Which hand-ins are alike in what was changed. A pair is one to look at; nothing here says who copied, or whether.

Each hand-in is laid beside the text that its author got, and what differs is taken as shapes (`shapes.changes`): other
names and another layout change nothing. A change counts by how rare it is in the class, log(N / n) for one that n of N
have (the inverse document frequency of K. Spärck Jones, "A statistical interpretation of term specificity", Journal of
Documentation 28, 1972), divided by that of a change that two have. So what everybody changed, or what the fault's file
names as a repair, weighs little or nothing.

    alike = sum over common changes / sum over all changes of the two   (each by its rarity)   x   the rarest common one
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from bugzoo.grading.repairs import repairs
from bugzoo.instructor.course.shapes import Shape, changes, shape
from bugzoo.instructor.submission import Submission
from bugzoo.instructor.tasks import RepairTask, program_of

LOOK = 0.5
"""From here on a pair is one to look at."""
LEAST = 8
"""Hand-ins with a change; among fewer nobody can say what is rare."""
SHARE, FEW = 0.02, 3
"""A change is rare that so large a share of the class has, or so few of it."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Work:
    """One hand-in beside the text that it began with. `owner` is whose variant that is."""

    student: str
    owner: str
    given: str
    text: str
    changed: frozenset[str]
    digest: str = ""


@dataclass(frozen=True)
class Pair:
    """Two hand-ins. `alike` is from 0 to 1; `common` and `rare` count changes; `flags` are facts beside the repair."""

    one: str
    other: str
    alike: float = 0.0
    common: int = 0
    rare: int = 0
    flags: tuple[str, ...] = ()

    @property
    def look(self) -> bool:
        """Whether somebody should look at the two beside each other."""
        return bool(self.flags) or (self.alike >= LOOK and self.rare > 0)


@dataclass
class Report:
    """The pairs that have anything in common, those to look at first, then the most alike."""

    pairs: list[Pair]
    works: dict[str, Work]
    left: dict[str, str] = field(default_factory=dict)
    """Student -> why nothing could be compared."""
    alone: dict[str, list[str]] = field(default_factory=dict)
    """Student -> what is odd about the notebook by itself."""

    @property
    def few(self) -> bool:
        """Whether too few changed anything for rarity to mean something."""
        return len(self.works) < LEAST

    @property
    def looked_at(self) -> list[Pair]:
        return [pair for pair in self.pairs if pair.look]


def compare(found: Sequence[Submission], task: RepairTask, progress: Progress | None = None) -> Report:
    """Lay the class's hand-ins beside each other. Nothing of them is run."""
    report = Report([], {})
    given = _Given(task)
    flags: dict[tuple[str, str], list[str]] = defaultdict(list)
    for number, one in enumerate(found):
        if one.problem:
            report.left[one.student] = one.problem
        else:
            _take(one, given, report, flags)
        if progress:
            progress(number + 1, len(found))
    for same in _grouped(report.works.values()):
        for one, other in combinations(same, 2):
            flags[one, other].append("the same file, byte for byte")
    report.pairs = sorted(
        _pairs(report, given.known(), flags), key=lambda pair: (not pair.look, -pair.alike, pair.one, pair.other)
    )
    return report


def _take(one: Submission, given: "_Given", report: Report, flags: dict[tuple[str, str], list[str]]) -> None:
    """Read one hand-in into the report."""
    owner, _ = given.task.owner(one.student, one.tag)
    text = program_of(one, given.task, owner)
    try:
        own = shape(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        report.left[one.student] = f"its program cannot be read ({type(error).__name__}: {error})"[:200]
        return
    odd = report.alone.setdefault(one.student, [])
    if not one.marked or (given.variants and not one.tag):
        odd.append("the notebook's metadata were removed")
    if owner != one.student:
        flags[_key(one.student, owner)].append(f"{one.student}'s notebook is the one that was drawn for {owner}")
    elif (nearest := given.nearest(own, one.student)) != one.student:
        owner = nearest
        flags[_key(one.student, owner)].append(
            f"{one.student}'s program is nearer to the one that was drawn for {owner} than to the own one"
        )
    before = given.shape(owner)
    if not odd:
        del report.alone[one.student]
    if changed := changes(before, own):
        report.works[one.student] = Work(one.student, owner, given.text(owner), text, changed, one.digest)
    else:
        report.left[one.student] = "nothing was changed in the program"


def _key(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _grouped(works: Iterable[Work]) -> list[list[str]]:
    """Students whose files are the same."""
    by: dict[str, list[str]] = defaultdict(list)
    for work in works:
        by[work.digest].append(work.student)
    return [sorted(names) for digest, names in by.items() if digest and len(names) > 1]


class _Given:
    """The texts that were handed out, each read once."""

    def __init__(self, task: RepairTask) -> None:
        self.task = task
        key: Any = getattr(task, "key", None)
        students: Mapping[str, Any] = key.students if key else {}
        self.variants = [name for name, facts in students.items() if facts.get("tag")]
        self._texts: dict[str, str] = {}
        self._shapes: dict[str, Shape] = {}

    def text(self, owner: str) -> str:
        owner = owner if owner in self.variants else ""
        if owner not in self._texts:
            self._texts[owner] = self.task.handed_out(owner)
        return self._texts[owner]

    def shape(self, owner: str) -> Shape:
        text = self.text(owner)
        if text not in self._shapes:
            self._shapes[text] = shape(text)
        return self._shapes[text]

    def nearest(self, own: Shape, student: str) -> str:
        """Whose variant a program began as, by the fewest statements that differ; the student's own where that is as near."""
        if not self.variants:
            return student
        here = set(own.statements)
        far = {name: len(here ^ set(self.shape(name).statements)) for name in self.variants}
        mine = far.get(student, len(here ^ set(self.shape(student).statements)))
        best = min(far, key=lambda name: far[name])
        return best if far[best] < mine else student

    def known(self) -> frozenset[str]:
        """The changes that the healthy program makes, and every repair that the faults' files name."""
        broken, before, case = self.text(""), self.shape(""), self.task.case("")
        texts = [self.task.healthy("")]
        for fault, params in case.specs:
            texts += repairs(broken, fault, params).values()
        return frozenset().union(*(changes(before, shape(text)) for text in texts))


def _pairs(report: Report, known: frozenset[str], flags: Mapping[tuple[str, str], list[str]]) -> list[Pair]:
    works = report.works
    having = Counter(change for work in works.values() for change in work.changed)
    number = len(works)
    unit = math.log(number / 2) if number > 2 else math.inf
    few = min(max(FEW, SHARE * number), number / 4)
    weight, rare = {}, set()
    for change, count in having.items():
        usual = max(count, number / 2) if change in known else count
        weight[change] = min(1.0, math.log(number / usual) / unit)
        if usual <= few and number >= LEAST:
            rare.add(change)
    sums = {name: sum(weight[change] for change in work.changed) for name, work in works.items()}
    found, done = [], set()
    for one, other in combinations(sorted(works), 2):
        common = works[one].changed & works[other].changed
        said = tuple(flags.get((one, other), ()))
        if not common and not said:
            continue
        shared = sum(weight[change] for change in common)
        every = sums[one] + sums[other] - shared
        rarest = max((weight[change] for change in common), default=0.0)
        alike = round(shared / every * rarest, 4) if every > 0 else 0.0
        found.append(Pair(one, other, alike, len(common), len(common & rare), said))
        done.add((one, other))
    found += [Pair(*pair, flags=tuple(said)) for pair, said in flags.items() if pair not in done]
    return found
