"""The duration of a repair, if slowness is the fault: relative to a healthy twin that runs at the same time.

Seconds alone say as much about the machine as about the program. Other load on the machine affects both runs.
"""

from dataclasses import replace

from bugzoo.grading.model import Check, state_of
from bugzoo.grading.unreadable import usable
from bugzoo.running import Job, Run, run_all, run_worker
from bugzoo.scenario import Scenario

SLOWER = 1.6
"""How many times as long as the twin a repair may take. Healthy ones took 0.9 to 1.2 times, a starved loader 2.3 times,
and 1.95 times while four other programs shared two processors."""
PAIRS = 2
"""Most pairs of runs: a pair may be disturbed unevenly, so one good pair is enough."""


def about_time(case: Scenario) -> bool:
    """Return whether one of the faults is a slow run. A compile fault is counted instead, as compiling dominates."""
    return any(fault.symptom == "slow" and not fault.needs.compile for fault, _ in case.specs)


def beside(job: Job, case: Scenario) -> Check:
    """Run the submission's `job` and the healthy text at once, under the same conditions.

    The supervisor measures the time from outside. Raises RuntimeError if the machine fails.
    """
    least = float("inf")
    # measurements after the run take both equally long, and would make the two look more alike
    bare = replace(job, after=None, after_args={}, export=(), predict=())
    for _ in range(PAIRS):
        run, usual = run_all(run_worker, [bare, replace(bare, source=case.healthy().source)], workers=2)
        least = min(least, _ratio(run, usual))
        if least <= SLOWER:
            break
    saw = f"The program ran at the same time as the healthy one. It takes {least:.2g} times as long."
    expected = f"At most {SLOWER:g} times passes."
    return Check("speed", state_of(least <= SLOWER), saw, expected, least, group="gone")


def _ratio(ours: Run, usual: Run) -> float:
    if usual.trouble:
        raise RuntimeError(usual.trouble)
    usable(ours)
    if usual.outcome != "finished":
        raise RuntimeError(f"The reference run ended as {usual.outcome}.")
    return ours.elapsed / usual.elapsed if ours.outcome == "finished" else float("inf")
