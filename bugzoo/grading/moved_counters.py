"""What waits for a number that no training reaches: a submission's own decisions, made as if counters had got there.

A wrong repair may keep its fault behind `if step >= 44_000_000`, `len(losses) > 4400` or a time of day. So a submission
with decisions that the healthy program does not have runs once more: where one has come out in one way only, between a number
that grows and one that stays, it is answered for a number past that one (`running.decisions`). Its steps are
compared with the healthy program's, and the fault should still not show. A run that ends earlier is judged by the steps it made.
"""

from collections.abc import Callable
from dataclasses import replace

from bugzoo.grading import drawing, each_step, speed
from bugzoo.grading.baseline import Baseline
from bugzoo.grading.model import Check, state_of
from bugzoo.grading.own_decisions import rewritten
from bugzoo.grading.partial_credit import shows
from bugzoo.grading.stages import stage
from bugzoo.grading.tolerances import tolerances
from bugzoo.running import Job, Run
from bugzoo.scenario import Scenario

MOVED = frozenset(("gradient", "update", "answers at steps"))
"""The comparisons that count here: the order of the data may follow a decision, as where an epoch ends."""
KEPT = 48
"""Steps that are compared: twice the usual number, as each number holds for some steps only."""
ALL = 10**9
"""More steps in a row than any training has."""
TURNS = 3
"""Runs of a case whose gradients a repair may choose: there a fault has to show in the whole run."""
AGAIN = "The program was run again as if its counters had grown further."


def checks(job: Job, case: Scenario, twin: Baseline, draw: int, run: Callable[[Job], Run]) -> list[Check]:
    """Run a submission's `job` with its own decisions moved; returns nothing if it has none.

    Raises RuntimeError if the machine fails.
    """
    if tolerances(case).healthy or case.ranks > 1 or speed.about_time(case):  # now and then is fast enough there
        return []
    whole = "gradient" in each_step.free(case)
    ended = ""
    for turn in range(TURNS if whole else 1):
        text = rewritten(job.source, (case.healthy().source, case.source), twin.steps, ALL if whole else 1, turn)
        if text is None:
            return []
        stage("training with counters that have grown further")
        kept = drawing.draw(draw, case.seed + 1000 * (turn + 1), twin.steps, KEPT)
        found = run(replace(job, source=text, keep_steps=kept))
        if wrong := _wrong(found, case, twin):
            return [wrong]
        ended = f"It ended as {found.outcome.replace('_', ' ')} after {len(found.trace.step)} steps"
    return [_check(f"{AGAIN} {ended}, and these are as before.", True)]


def _wrong(found: Run, case: Scenario, twin: Baseline) -> Check | None:
    complete = len(found.trace.step) == twin.steps or found.outcome == "non_finite"
    if complete and any(shows(fault, found.readings) for fault, _ in case.specs):
        return _check(f"{AGAIN} The original fault shows there.", False)
    for check in each_step.checks(found, case, twin):
        if check.status == "wrong" and check.name in MOVED:
            return _check(f"{AGAIN} {check.saw}", False)
    return None


def _check(saw: str, good: bool) -> Check:
    return Check("counters", state_of(good), saw, "It should be gone at every step.", group="every_run")
