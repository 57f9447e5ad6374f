"""The proof of a *two* exercise: how much is tried, and which findings earn all points, half of them, or nothing."""

from collections.abc import Sequence
from typing import Any

from bugzoo.diagnostics.causes import words
from bugzoo.grading.answers import filled, grade_diagnosis, right
from bugzoo.grading.kinds.two.findings import KEY
from bugzoo.grading.model import Exercise
from bugzoo.grading.trials import HALF, Trial


def asked(exercise: Exercise) -> list[tuple[list[dict[str, Any]], float]]:
    """Return pairs of findings with what each pair has to earn, as a share of the points."""
    one, other = (filled(exercise, of) for of in (0, 1))
    true = [word for of in (0, 1) for word in right(exercise, of).causes]
    found: list[tuple[list[dict[str, Any]], float]] = [([one, other], 1.0), ([other, one], 1.0)]
    found += [(pair, 0.5) for pair in ([one, {}], [{}, other], [one, one], [other, other])]
    for cause in (word for word in words() if word not in true):
        wrong, wrong_too = one | {"cause": cause}, other | {"cause": cause}
        found += [([one, wrong_too], 0.5), ([wrong, other], 0.5), ([wrong, wrong_too], 0.0)]
    return found


def counts(trials: Sequence[Trial], fault: str) -> dict[str, int]:
    """Return how many repairs and pretences of one of two faults are tried."""
    kinds = [trial.kind for trial in trials if trial.name.startswith(f"{fault}: ")]
    return {"correct repairs": kinds.count(HALF), "pretences of its own": kinds.count("degenerate")}


def diagnoses(exercise: Exercise) -> tuple[int, list[str]]:
    """Return how many diagnoses were graded, and sentences on wrong grades."""
    problems, pairs = [], asked(exercise)
    for given, wanted in pairs:
        if (earned := grade_diagnosis(exercise.name, {KEY: given}).share) != wanted:
            named = " and ".join(repr(finding.get("cause", "")) for finding in given)
            problems.append(f"the diagnosis {named} earns {earned:.0%}, not {wanted:.0%}")
    return len(pairs), problems
