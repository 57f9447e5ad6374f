"""The texts of a *two* exercise: with one fault repaired, and with both repaired in every way that counts."""

from bugzoo.grading.model import Exercise
from bugzoo.grading.partial_credit import without
from bugzoo.grading.repairs import made, repairs
from bugzoo.grading.texts import broken_text, healthy_text, same_program, told

PLAIN = "as in the solution"
"""Name of the repair that restores the healthy lines."""


def half(exercise: Exercise, of: int) -> str:
    """Return the text with one fault repaired as in the solution. `of`: 0 or 1, its place in `about_faults`."""
    return told(exercise, without(exercise.scenario, (exercise.about_faults[of][0].id,)).source)


def halves(exercise: Exercise, of: int) -> dict[str, str]:
    """Return name -> text with only this fault repaired, in every accepted way."""
    return _different({PLAIN: half(exercise, of)} | repairs(broken_text(exercise), *exercise.about_faults[of]))


def combined(exercise: Exercise) -> dict[str, str]:
    """Return name -> text for each combination of accepted repairs, without that of the solution."""
    texts: dict[str, str] = {}
    first, second = exercise.about_faults
    for repair, text in halves(exercise, 0).items():
        start: str | None = healthy_text(exercise)
        if repair != PLAIN:
            start = made(half(exercise, 1), first[0].repairs[repair], first[1])
        repaired = {PLAIN: start} | {name: made(text, edits, second[1]) for name, edits in second[0].repairs.items()}
        texts |= {f"{repair} + {name}": edited for name, edited in repaired.items() if edited is not None}
    texts.pop(f"{PLAIN} + {PLAIN}")
    return {name: text for name, text in _different(texts).items() if not same_program(text, healthy_text(exercise))}


def _different(texts: dict[str, str]) -> dict[str, str]:
    """Return the texts without repetitions: on some programs two repairs are the same."""
    distinct: dict[str, str] = {}
    for name, text in texts.items():
        if not any(same_program(text, other) for other in distinct.values()):
            distinct[name] = text
    return distinct
