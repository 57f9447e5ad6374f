"""A second run of a submission, where only the pair tells what one run cannot: is it reproducible?

How many runs a program's result needs stands in its facts (`runs`, 1 where they do not say), and how the second one is
started: `second = "again"` runs the same text once more. A fault whose evidence is an instrument that re-runs the script
asks for the same by itself. Both runs are made in the sandbox, and the instrument judges their traces out here.
"""

from dataclasses import replace

from bugzoo.diagnostics import NotApplicable, instrument, reruns
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.running import Job, Reading, Run, run_worker
from bugzoo.scenario import Scenario

AGAIN = ("determinism",)
"""What judges two runs of one text."""


def judges(case: Scenario) -> tuple[str, ...]:
    """Instruments that look at a pair of runs of this case; empty where one run tells everything."""
    facts = case.facts
    if int(facts.get("runs", 1)) > 2 or facts.get("second", "again") != "again":
        raise UserError(
            f"{case.program}: runs = {facts.get('runs', 1)}, second = {facts.get('second')!r} in its facts is not known; "
            'runs is 1 or 2, and second is "again".'
        )
    named = {parse(text).instrument for fault, _ in case.specs for text in fault.evidence}
    named |= set(AGAIN if int(facts.get("runs", 1)) == 2 else ())
    return tuple(sorted(name for name in named if name not in ("outcome", "metrics") and reruns(name)))


def measure(job: Job, run: Run, case: Scenario) -> dict[str, Reading]:
    """Readings of the pair: `run`, which `job` made, and the second run. Raises RuntimeError where the machine fails."""
    wanted = judges(case)
    if not wanted:
        return {}
    if run.outcome != "finished":
        return {name: Reading(why_not=f"the first run ended as {run.outcome}") for name in wanted}
    second = run_worker(replace(job, after=None, export=(), predict=()))
    if second.trouble:
        raise RuntimeError(second.trouble)
    if second.outcome != "finished":
        return {name: Reading(why_not=f"the second run ended as {second.outcome}") for name in wanted}
    found = {}
    for name in wanted:
        try:
            found[name] = Reading(instrument(name).measure(run, second))
        except NotApplicable as why:
            found[name] = Reading(why_not=str(why))
    return found
