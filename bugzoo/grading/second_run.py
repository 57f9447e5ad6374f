"""Further runs of a submission, when one run is not enough: is it reproducible, does it resume from its checkpoint?

A program's facts say how many runs its result needs (`runs`, default 1) and how to start the second. With
`second = "again"` the same text runs again. With `second = "resume"` it stops half-way and restarts in the folder that
it left (`running.resume`). A fault whose evidence comes from an instrument that re-runs the script needs this too. All
runs happen in the sandbox, and the instrument judges their traces outside it.
"""

from dataclasses import replace

from bugzoo.diagnostics import NotApplicable, instrument, reruns
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.grading.unreadable import usable
from bugzoo.running import Job, Reading, Run
from bugzoo.scenario import Scenario

BY = {"again": "determinism", "resume": "resumption"}
"""How the second run is started -> the instrument that judges the runs."""


def judges(case: Scenario) -> tuple[str, ...]:
    """Return instruments that need several runs of this case; empty if one run is enough."""
    facts = case.facts
    runs, second = int(facts.get("runs", 1)), facts.get("second", "again")
    if runs > 2 or second not in BY:
        problem = f"{case.program}: its facts say runs = {runs}, second = {second!r}."
        raise UserError(f"{problem} Allowed: runs is 1 or 2, and second is {' or '.join(map(repr, BY))}.")
    named = {parse(text).instrument for fault, _ in case.specs for text in fault.evidence}
    named |= {BY[second]} if runs == 2 else set()
    return tuple(sorted(name for name in named if name not in ("outcome", "metrics") and reruns(name)))


def measure(job: Job, run: Run, case: Scenario) -> dict[str, Reading]:
    """Return readings over all runs: `run` of this `job`, and the others. Raises RuntimeError and Unreadable as `usable`."""
    readings: dict[str, Reading] = {}
    for name in judges(case):
        if run.outcome != "finished":
            readings[name] = Reading(why_not=f"the first run ended as {run.outcome}")
            continue
        try:
            more = instrument(name).again(replace(job, after=None, after_args={}, export=(), predict=()))
            for repetition in more:
                usable(repetition)
            if ended := next((repetition.outcome for repetition in more if repetition.outcome != "finished"), ""):
                kind = "second" if len(more) == 1 else "resumed" if name == BY["resume"] else "further"
                raise NotApplicable(f"the {kind} run ended as {ended}")
            readings[name] = Reading(instrument(name).measure(run, *more).measured())
        except NotApplicable as why:
            readings[name] = Reading(why_not=str(why))
    return readings
