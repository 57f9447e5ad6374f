"""How sure a learner was of predictions, and how often that was right."""

from collections.abc import Sequence

from bugzoo import course, record

GRAINS = ("guess", "rather", "sure")
"""The answers to "How sure are you?", the least sure first."""
TAG = "how-sure"
"""Tag of a [predict] cell that also asks it."""


def asks(key: str) -> bool:
    """Return whether a lesson's prediction, such as `02/suspects`, also asks how sure the learner is."""
    number, _, name = key.partition("/")
    return any(cell.name == name and TAG in cell.tags for cell in course.load(number).of("predict"))


def summary(number: str) -> str:
    """Return one line for a lesson: how often each degree of sureness was right."""
    keys = [f"{number}/{cell.name}" for cell in course.load(number).of("predict") if TAG in cell.tags]
    entries = [entry for key in keys if (entry := record.kept("prediction", key)) and entry.get("sure")]
    if not entries:
        return "You did not say how sure you were of a prediction in this lesson."
    return f"Your predictions: {', '.join(_counts(entries))}."


def _counts(entries: Sequence[dict[str, object]]) -> list[str]:
    """Return "sure: 1 of 2 right" for each degree that was chosen, the surest first."""
    lines = []
    for grain in reversed(GRAINS):
        right = [bool(entry.get("right")) for entry in entries if entry["sure"] == grain]
        if right:
            lines.append(f"{grain}: {sum(right)} of {len(right)} right")
    return lines
