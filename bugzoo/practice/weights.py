"""Which families matter most now: what would be missed, times how often interviewers ask for it."""

from bugzoo import faults
from bugzoo.interview.deck import BY_SYMPTOM, WEIGHTS
from bugzoo.practice.memory import Standing


def weight(cause: str) -> int:
    """How often interviewers ask for such a symptom, as they report it."""
    return WEIGHTS[BY_SYMPTOM[faults.load(cause).symptom]]


def missing(now: Standing, cause: str) -> float:
    """How likely a cause would be missed now: 1 where it was never met."""
    memory = now.memories.get(cause)
    return 1.0 if memory is None else 1.0 - memory.recall(now.now)


def pressing(now: Standing) -> dict[str, float]:
    """Family -> the mean over its causes of both multiplied, the largest first."""
    found: dict[str, list[float]] = {}
    for cause in now.causes:
        found.setdefault(cause.split("/")[0], []).append(weight(cause) * missing(now, cause))
    means = {family: sum(values) / len(values) for family, values in found.items()}
    return dict(sorted(means.items(), key=lambda one: (-one[1], one[0])))
