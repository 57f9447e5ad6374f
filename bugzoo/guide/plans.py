"""The ways through the lab, each a plan in parts: computed from what there is, so that a new lesson takes its place."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bugzoo import faults, lessons
from bugzoo.errors import unknown
from bugzoo.guide.done import NOT_COUNTED, Exercise, Lesson, Standing, standing
from bugzoo.interview.deck import BY_SYMPTOM, WEIGHTS

WEEKS, DAYS, DAY, HOUR = 12, 2, 300, 60
"""Of the course and of the weekend, and the minutes of a day and of the hour."""

EXERCISE, INTERVIEW, CARD, CHECKUP = 20, 10, 0.5, 5
"""Minutes that are planned for one. Of a lesson they are counted from its text; these are guesses, said as such."""

OWN = 20
"""The lesson on a script that the learner brings."""

DEFAULT = "course"
"""What is followed while nothing is chosen."""


@dataclass(frozen=True)
class Step:
    """One thing to do. `link` is a notebook, as a path below the folder of the lab; `command` is for a terminal.

    `state`: done · begun · open · not counted. `told` says how far it is, in words.
    """

    kind: str
    name: str
    title: str
    minutes: float
    state: str = "open"
    told: str = ""
    link: str = ""
    command: str = ""


@dataclass(frozen=True)
class Part:
    """A week, a day, or whatever a way is divided into."""

    title: str
    steps: tuple[Step, ...]

    @property
    def minutes(self) -> float:
        return sum(step.minutes for step in self.steps)

    @property
    def counted(self) -> tuple[Step, ...]:
        """The steps of which the record knows whether they are done."""
        return tuple(step for step in self.steps if step.state != NOT_COUNTED)

    @property
    def done(self) -> int:
        return sum(step.state == "done" for step in self.steps)


@dataclass(frozen=True)
class Way:
    """A plan. `next` is None where all of it is done; a plan of commands, of which nothing is recorded, begins anew each time."""

    name: str
    title: str
    about: str
    parts: tuple[Part, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(step for part in self.parts for step in part.steps)

    @property
    def minutes(self) -> float:
        return sum(part.minutes for part in self.parts)

    @property
    def counted(self) -> tuple[Step, ...]:
        return tuple(step for part in self.parts for step in part.counted)

    @property
    def open(self) -> bool:
        """It begins with commands, and ends where the run is well and not where all is done."""
        return bool(self.steps) and self.steps[0].kind == "command"

    @property
    def next(self) -> Step | None:
        if self.open:
            return self.steps[0]
        return next((step for step in self.steps if step.state in ("open", "begun")), None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"minutes": round(self.minutes)}


@dataclass(frozen=True)
class Unit:
    """A lesson, where it is written, and the exercises that it owns. `weight`: how often interviewers ask for its topic."""

    number: int
    lesson: Lesson | None
    exercises: tuple[Exercise, ...]
    topics: tuple[str, ...]

    @property
    def weight(self) -> int:
        return max((WEIGHTS[topic] for topic in self.topics), default=0)

    def steps(self, most: int | None = None) -> list[Step]:
        """The lesson, then its exercises, `most` of them."""
        first = [lesson_step(self.lesson)] if self.lesson else []
        return [*first, *map(exercise_step, self.exercises[:most])]


def ways(now: Standing | None = None) -> dict[str, Way]:
    """Name -> plan, with what is done ticked off. Raises UserError for a record that cannot be read."""
    now = now or standing()
    return {made.name: made for made in (plan(now) for plan in PLANS.values())}


def known(name: str) -> str:
    """The name of a way. Raises UserError with the nearest ones."""
    if name not in PLANS:
        raise unknown("way", name, PLANS, "bugzoo progress --help")
    return name


def next_step(way: str = "", now: Standing | None = None) -> Step | None:
    """What comes next on a way, on the chosen one when left out; None where all of it is done. Raises UserError."""
    now = now or standing()
    return PLANS[known(way or current(now))](now).next


def current(now: Standing) -> str:
    """The way that is followed."""
    return now.way if now.way in PLANS else DEFAULT


def units(now: Standing) -> list[Unit]:
    """Lessons with their exercises, in order; exercises whose lesson is not written stand alone."""
    by_number = {one.number: one for one in now.lessons}
    numbers = sorted({*by_number, *(one.lesson for one in now.exercises)})
    return [Unit(n, by_number.get(n), tuple(now.of_lesson(n)), _topics(by_number.get(n))) for n in numbers]


def _topics(lesson: Lesson | None) -> tuple[str, ...]:
    """What a lesson's cases show, in the words of interviewers."""
    if lesson is None:
        return ()
    cases = lessons.load(lesson.name).cases.values()
    ill = [faults.load(spec.partition("?")[0]) for _, specs in cases for spec in specs]
    return tuple(dict.fromkeys(BY_SYMPTOM[one.symptom] for one in ill if not one.trap))


def lesson_step(one: Lesson) -> Step:
    told = f"{one.done} of {one.of}" if one.began else ""
    return Step("lesson", one.name, f"{one.number:02} · {one.title}", one.minutes, one.state, told, one.link)


def exercise_step(one: Exercise) -> Step:
    tries = f"{one.attempts} attempt{'s' * (one.attempts != 1)}, best {one.best:g}" if one.attempts else ""
    told = "passed" if one.state == "done" else tries
    return Step("exercise", one.name, f"Exercise {one.number} · {one.title}", EXERCISE, one.state, told, one.link)


class Counter:
    """Cards and interviews of a plan, in its order: what was done since it was chosen fills the first, then the next."""

    def __init__(self, now: Standing, name: str) -> None:
        since = now.since if now.way == name else 0.0
        self.weakest = now.weakest
        self._had = {
            "cards": sum(at >= since for at in now.answered),
            "interview": sum(at >= since for at in now.interviews),
        }

    def cards(self, many: int) -> Step:
        """So many cards; of the family that went worst so far, where one did."""
        family = f" --family {self.weakest}" if self.weakest and self.weakest != "traps" else ""
        had = self._take("cards", many)
        command = f"bugzoo cards --count {many}{family}"
        told = f"{had} of {many}" if had else ""
        link = "notebooks/00_start_here.ipynb#Cards"
        return Step("cards", f"{many} cards", f"{many} cards", many * CARD, _state(had, many), told, link, command)

    def interview(self) -> Step:
        had = self._take("interview", 1)
        link, command = "notebooks/interview.ipynb", "bugzoo interview --minutes 5"
        return Step("interview", "interview", "A mock interview", INTERVIEW, _state(had, 1), "", link, command)

    def _take(self, kind: str, many: int) -> int:
        taken = min(self._had[kind], many)
        self._had[kind] -= taken
        return taken


def _state(had: int, many: int) -> str:
    return "done" if had >= many else "begun" if had else "open"


def course(now: Standing) -> Way:
    """Every lesson and every exercise, in order, dealt over the weeks so that the longest is as short as can be."""
    count, parts = Counter(now, "course"), []
    weeks = deal(units(now), WEEKS)
    for week, mine in enumerate(weeks, 1):
        steps = [step for unit in mine for step in unit.steps()] + [count.cards(10)]
        if week % 4 == 0 or week == len(weeks):
            steps.append(count.interview())
        parts.append(Part(f"Week {week}", tuple(steps)))
    today = "" if len(weeks) == WEEKS else f" Today there is enough for {len(weeks)}."
    about = f"Every lesson and every exercise, in order.{today}"
    return Way("course", f"A course of {WEEKS} weeks", about, tuple(parts))


def weekend(now: Standing) -> Way:
    """The lessons on what is asked most, as many as fit, each with one exercise."""
    left, taken = DAYS * DAY - DAYS * 10 * CARD - INTERVIEW, []
    for unit in sorted((one for one in units(now) if one.lesson), key=lambda one: (-one.weight, one.number)):
        minutes = sum(step.minutes for step in unit.steps(most=1))
        if minutes <= left:
            left, taken = left - minutes, [*taken, unit]
    count, parts = Counter(now, "weekend"), []
    days = deal(sorted(taken, key=lambda one: one.number), DAYS, most=1)
    for number, mine in enumerate(days, 1):
        steps = [step for unit in mine for step in unit.steps(most=1)] + [count.cards(10)]
        steps += [count.interview()] if number == len(days) else []
        parts.append(Part(f"Day {number}", tuple(steps)))
    about = "The lessons on what goes wrong, and is asked, most often; one exercise each, and an interview at the end."
    return Way("weekend", "A weekend", about, tuple(parts))


def hour(now: Standing) -> Way:
    """Interview, cards, an exercise that was not passed before, and again."""
    count, since = Counter(now, "hour"), now.since if now.way == "hour" else float("inf")
    ordered = sorted(units(now), key=lambda one: (-one.weight, one.number))
    fresh = [one for unit in ordered for one in unit.exercises if one.passed is None or one.passed >= since]
    task = [exercise_step(fresh[0])] if fresh else [count.interview()]
    steps = [count.interview(), count.cards(10), *task, count.interview(), count.cards(20)]
    about = "Two mock interviews, thirty cards, and an exercise that you have not passed yet."
    return Way("hour", "An hour before an interview", about, (Part("The hour", tuple(steps)),))


def mine(now: Standing) -> Way:
    """Instruments first; then the lesson on what is seen."""
    commands = (
        ("bugzoo checkup train.py", "Put the script under the instruments"),
        ("bugzoo checkup train.py --budget 300", "The same with experiments, where nothing was found"),
        ("git bisect run bugzoo verdict train.py", "Find the commit that broke it"),
        ("bugzoo bug-report train.py -o report", "Cut it down to the shortest script that still shows it"),
    )
    steps = [Step("command", line, title, CHECKUP, NOT_COUNTED, command=line) for line, title in commands]
    own = [lesson_step(one) for one in now.lessons if one.number == OWN]
    parts = [Part("Look", (*steps, *own))]
    rest = [one for one in units(now) if one.lesson and one.number != OWN]
    for topic in WEIGHTS:
        if found := tuple(step for one in rest if topic in one.topics for step in one.steps(most=0)):
            parts.append(Part(f"Read, if it is this: {topic}", found))
    about = "Instruments on your own script first, then the lesson on what you see."
    return Way("mine", "My own run is ill, now", about, tuple(parts))


PLANS: dict[str, Callable[[Standing], Way]] = {"course": course, "weekend": weekend, "hour": hour, "mine": mine}


def deal(what: Sequence[Unit], parts: int, most: int | None = None) -> list[list[Unit]]:
    """`what` in its order, cut into at most `parts` pieces, none of them empty, the longest as short as can be."""
    minutes = [sum(step.minutes for step in unit.steps(most)) for unit in what]
    best: dict[tuple[int, int], tuple[float, int]] = {(0, 0): (0.0, 0)}  # (units dealt, pieces) -> longest, last cut
    for end in range(1, len(what) + 1):
        for pieces in range(1, min(parts, end) + 1):
            cuts = [start for start in range(end) if (start, pieces - 1) in best]
            if cuts:
                options = [(max(best[start, pieces - 1][0], sum(minutes[start:end])), start) for start in cuts]
                best[end, pieces] = min(options)
    made: list[list[Unit]] = []
    end = len(what)
    for pieces in range(min(parts, end), 0, -1):
        start = best[end, pieces][1]
        made.insert(0, list(what[start:end]))
        end = start
    return made or [[]]
