"""What a student's own notebook may say of a repair: does it run to its end, and end where a healthy program ends?

It needs no key and knows no fault, so that it tells nothing that the notebook does not show anyway. A program that passes here
may still be ill: the grader looks at far more.
"""

from collections.abc import Sequence
from typing import Any

from bugzoo.grading import healthy
from bugzoo.grading.model import Check, Result
from bugzoo.lab.healthy_twin import last_tenth
from bugzoo.running import run_worker

MORE = (
    "As good as a healthy program, as far as this looks. Whether all is repaired is found out when you have handed in."
)


NEAR, ROOM = 1.5, 0.05
"""A training loss up to so many times the healthy one's, and so much, is near it."""


def look(source: str, bar: Sequence[Any] | None, last: float | None = None, ranks: int = 1) -> Result:
    """Run the program once and look at its end: `bar` is (metric, lowest, highest) of healthy runs, `last` their training loss.

    Without them less is looked at.
    """
    run = run_worker(healthy.job(source, ranks))
    ended = Check(
        "outcome", "passed" if run.outcome == "finished" else "wrong", f"it ended as {run.outcome}", "finished"
    )
    if run.outcome == "crashed":
        ended = Check(
            "outcome", "your code raised", f"{run.trace.error.get('type')}: {run.trace.error.get('message')}"[:300]
        )
    checks = [ended]
    if bar and ended.passed:
        metric, low, high = bar
        value = run.trace.metrics.get(metric)
        good = isinstance(value, int | float) and low <= value <= high
        saw = "it is not in `metrics`" if value is None else f"{value:.4g}"
        checks.append(
            Check(metric, "passed" if good else "wrong", saw, f"{low:g} to {high:g}, as healthy runs have it")
        )
    if last is not None and ended.passed:
        value = last_tenth(run.trace.loss)
        near = value <= NEAR * last + ROOM
        expected = f"near the healthy run's {last:.4g}"
        checks.append(Check("training loss", "passed" if near else "wrong", f"{value:.4g} in its last tenth", expected))
    failed = [check for check in checks if not check.passed]
    if failed:
        return Result(failed[0].status, 0.0, checks, seconds=run.seconds)
    return Result("not attempted", 0.0, checks, message=MORE, seconds=run.seconds)
