"""One result from the checks of several seeds."""

from collections.abc import Sequence
from dataclasses import replace

from bugzoo.grading import symptoms
from bugzoo.grading.model import FOR_A_PERSON, Check


def crashed(found: list[Check]) -> bool:
    """Return whether the program stopped with an error; then nothing else is asked."""
    return bool(found) and found[0].status == "your code raised"


def with_seed(before: list[Check], now: list[Check], seed: int) -> list[Check]:
    """Add the checks of a later seed: those that failed on no seed so far belong to the group of all runs."""
    checks, names = list(before), {check.name for check in before}
    failed = {check.name for check in before if not check.passed}
    for check in now:
        if not check.passed and check.name not in failed:
            checks.append(replace(check, saw=f"With seed {seed}: {check.saw}", group="every_run"))
        elif check.passed and check.name not in names:
            checks.append(check)
    if any(not check.passed and symptoms.title(check.name) for check in checks):
        checks = [check for check in checks if check.name != "instruments"]
    return checks


def together(means: list[Check], seeds: Sequence[int]) -> list[Check]:
    """Return the means over the seeds that are outside their band; without any, that all seeds passed."""
    if failed := [check for check in means if not check.passed]:
        return failed
    numbers = ", ".join(map(str, seeds))
    saw = f"The program was trained with {len(seeds)} seeds ({numbers}). Every check passed with each."
    return [Check("seeds", "passed", saw, group="every_run")]


def status_of(found: list[Check]) -> str:
    """Return the status of a result with these checks."""
    states = {check.status for check in found}
    for status in ("your code raised", "cannot be graded", "wrong", FOR_A_PERSON):
        if status in states:
            return status
    return "passed" if found else "cannot be graded"
