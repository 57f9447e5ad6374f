"""Another case of an exercise: the same kind of fault under another ticket, on another program, seed or parameter.

`04_flat_loss-1` is the first one of exercise 04. Its name alone gives the case, on any machine. The tickets take turns,
and each draws from the seeds that `bugzoo verify` proves. `bugzoo check` proves both ends of what a ticket may draw.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bugzoo.draws import Pick, draw, settle
from bugzoo.errors import UserError
from bugzoo.grading.model import Exercise

SEEDS = 5
"""Seeds that a case is drawn from, 0 and up: those of `bugzoo verify`."""
PARTS = 10
"""Parts of a run whose means a story tells, as `program.numbers()` prints them."""
_NAME = re.compile(r"(?P<exercise>\w+)-(?P<number>[1-9]\d{0,3})(?P<end>\.low|\.high)?")
_ENDS: dict[str, Pick] = {".low": lambda label, low, high, whole: low, ".high": lambda label, low, high, whole: high}


def parted(name: str) -> tuple[str, int, str]:
    """Return (exercise, number, end) of a case's name; number 0 for an exercise's own name."""
    match = _NAME.fullmatch(name)
    return (match["exercise"], int(match["number"]), match["end"] or "") if match else (name, 0, "")


def case(exercise: Exercise, number: int, end: str = "") -> Exercise:
    """Return the case of that number, from 1; with `end`, ".low" or ".high", its lowest or highest choices.

    Raises UserError for an exercise without further tickets, and for one of which all recordings are drawn.
    """
    if not exercise.tickets:
        raise UserError(f"Exercise {exercise.name} has no further tickets.")
    if not exercise.kind.program and number > len(exercise.tickets):
        raise UserError(f"Exercise {exercise.name} has {len(exercise.tickets)} further recordings. You have drawn all.")
    ticket = exercise.tickets[(number - 1) % len(exercise.tickets)]
    pick = _ENDS[end] if end else draw("bugzoo", exercise.name, str(number)).pick
    program, fault = ticket.program or exercise.program, settle(ticket.fault or exercise.fault, pick)
    kind = (ticket.kind or exercise.kind).settled(pick)
    variant = replace(
        exercise,
        name=f"{exercise.name}-{number}{end}",
        title=f"{exercise.title} ({number + 1})",
        story=ticket.story,
        program=program,
        fault=fault,
        kind=kind,
        seed=int(pick("seed", 0, SEEDS - 1, True)),
        settings=exercise.settings if program == exercise.program else {},
        about=ticket.about or (exercise.about if program == exercise.program else ""),
        tickets=(),
    )
    if (variant.program, variant.faults, variant.seed) == (exercise.program, exercise.faults, exercise.seed):
        return replace(variant, seed=(variant.seed + 1) % SEEDS)  # not the exercise itself again
    return variant


def ends(exercise: Exercise) -> list[Exercise]:
    """Return both ends of each ticket, for the proof; none where the tickets are recorded as they are drawn."""
    if not exercise.kind.program:
        return []
    return [case(exercise, number, end) for number in range(1, len(exercise.tickets) + 1) for end in _ENDS]


@dataclass(frozen=True)
class Figures:
    """What a story may tell of a run. Losses are means over the ten parts of `program.numbers()`."""

    first: float
    last: float
    lowest: float
    highest: float
    steps: int
    metrics: Mapping[str, float]

    @property
    def accuracy(self) -> float:
        """Validation accuracy in percent."""
        return 100 * self.metrics["accuracy"]

    @property
    def loss(self) -> float:
        """Validation loss."""
        return self.metrics["loss"]


def figures(losses: Sequence[float], metrics: Mapping[str, float]) -> Figures:
    """Return the figures of one run from its losses, one a step."""
    import numpy as np  # loaded here: names of cases are also read where nothing is computed

    parts = [float(np.mean(part)) for part in np.array_split(np.asarray(losses), min(PARTS, len(losses)))]
    return Figures(parts[0], parts[-1], min(parts), max(parts), len(losses), metrics)


def told(exercise: Exercise, progress: Callable[[int, int], None] = lambda done, of: None) -> Exercise:
    """Return an exercise with the figures of its own run and its healthy twin's in its story. This trains both.

    An exercise that is not a drawn case comes back as it is. Raises UserError if a run does not finish. `progress` gets
    (runs done, all runs).
    """
    if not parted(exercise.name)[1] or not exercise.kind.program:  # the story of recorded runs quotes no number
        return exercise
    from bugzoo.grading import healthy
    from bugzoo.grading.texts import healthy_text

    quoted: dict[str, Any] = {}
    runs = {} if exercise.kind.stop(exercise) else {"run": exercise.handed_out}  # a crash has no figures
    texts = {**runs, "healthy": healthy_text(exercise)}
    for name, text in texts.items():
        progress(len(quoted), len(texts))
        curve = healthy.recorded(text, exercise.scenario.ranks)
        quoted[name] = figures(curve.losses, curve.metrics)
    progress(len(quoted), len(texts))
    return replace(exercise, story=exercise.story.format_map(quoted))
