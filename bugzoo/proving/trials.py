"""The submissions that prove an exercise: what must pass, and what must not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bugzoo.diagnostics.causes import words
from bugzoo.grading.edits import apply
from bugzoo.grading.grade import handed_out
from bugzoo.grading.model import Exercise
from bugzoo.proving.attacks import attacks

MUST_PASS, MUST_FAIL = ("solution", "correct"), ("unsolved", "degenerate", "attack")


@dataclass(frozen=True)
class Trial:
    """One submission: `kind` says what must come of it."""

    exercise: str
    kind: str
    name: str
    source: str
    diagnosis: dict[str, Any] | None = None


def trials(exercise: Exercise) -> Iterator[Trial]:
    """Every submission that the proof needs. Raises ValueError for a declared edit that does not fit the program."""
    broken, name = handed_out(exercise), exercise.name
    right = {"cause": exercise.answers.cause}
    yield Trial(name, "unsolved", "as handed out", broken)
    if exercise.trap:
        yield Trial(name, "unsolved", "as handed out, blamed", broken, {"cause": _another(exercise.answers.cause)})
    yield Trial(name, "solution", "solution", apply(broken, exercise.solution), right)
    for kind, declared in (("correct", exercise.correct), ("degenerate", exercise.degenerate)):
        for title, edits in declared.items():
            yield Trial(name, kind, title, apply(broken, edits), right)
    ill = apply(broken, next(iter(exercise.degenerate.values()), ())) if exercise.trap else broken
    for title, text in attacks(ill).items():
        yield Trial(name, "attack", title, text, right)


def _another(cause: str) -> str:
    return next(other for other in words() if other != cause)
