"""How long a repair takes, where slowness is the fault: beside a healthy twin that runs at the same time.

Seconds alone say as much about the machine as about the program. Whatever else the machine does, it does to both.
"""

from dataclasses import replace

from bugzoo.grading import checks
from bugzoo.grading.model import Check
from bugzoo.running import Job, Run, run_worker
from bugzoo.running.pool import run_all
from bugzoo.scenario import Scenario

SLOWER = 1.6
"""How many times as long as the twin a repair may take: healthy ones took 0.9 to 1.2 times, a starved loader 2.3 times, and
1.95 times where four other programs wanted two processors."""
PAIRS = 2
"""A pair may be disturbed unevenly: one that is in order is enough."""


def about_time(case: Scenario) -> bool:
    """Is one of the faults that a run is slow? What compiles takes longer here than the training: that one is counted."""
    return any(fault.symptom == "slow" and not fault.needs.compile for fault, _ in case.specs)


def beside(job: Job, case: Scenario) -> Check:
    """Run the submission's `job` and the healthy text under the same conditions, both at once.

    The time is the supervisor's, from outside. Raises RuntimeError where the machine fails.
    """
    least = float("inf")
    # what is measured afterwards takes both as long, and would make any two more alike
    bare = replace(job, after=None, after_args={}, export=(), predict=())
    for _ in range(PAIRS):
        ours, usual = run_all(run_worker, [bare, replace(bare, source=case.healthy().source)], workers=2)
        least = min(least, _ratio(ours, usual))
        if least <= SLOWER:
            break
    saw = f"it takes {least:.2g} times as long as the reference that ran beside it"
    return checks.verdict("speed", least <= SLOWER, saw, f"at most {SLOWER:g} times", least)


def _ratio(ours: Run, usual: Run) -> float:
    if trouble := ours.trouble or usual.trouble:
        raise RuntimeError(trouble)
    if usual.outcome != "finished":
        raise RuntimeError(f"The reference run ended as {usual.outcome}.")
    return ours.elapsed / usual.elapsed if ours.outcome == "finished" else float("inf")
