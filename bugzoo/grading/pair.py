"""Further runs of a submission, where one run cannot tell: is it reproducible, does it go on from its checkpoint?

How many runs a program's result needs stands in its facts (`runs`, 1 where they do not say), and what the others are:
`second = "again"` runs the same text once more, `second = "resume"` stops it half way and starts it again in the folder that it
left (`running.resume`). A fault whose evidence is an instrument that re-runs the script asks for the same by itself. All
runs are made in the sandbox, and the instrument judges their traces out here.
"""

from dataclasses import replace

from bugzoo.diagnostics import NotApplicable, instrument, reruns
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.running import Job, Reading, Run
from bugzoo.scenario import Scenario

BY = {"again": "determinism", "resume": "resumption"}
"""What judges the runs of a text, by how the second one is started."""


def judges(case: Scenario) -> tuple[str, ...]:
    """Instruments that look at several runs of this case; empty where one run tells everything."""
    facts = case.facts
    runs, second = int(facts.get("runs", 1)), facts.get("second", "again")
    if runs > 2 or second not in BY:
        raise UserError(
            f"{case.program}: runs = {runs}, second = {second!r} in its facts is not known; runs is 1 or 2, and second is "
            f"{' or '.join(map(repr, BY))}."
        )
    named = {parse(text).instrument for fault, _ in case.specs for text in fault.evidence}
    named |= {BY[second]} if runs == 2 else set()
    return tuple(sorted(name for name in named if name not in ("outcome", "metrics") and reruns(name)))


def measure(job: Job, run: Run, case: Scenario) -> dict[str, Reading]:
    """Readings of all runs together: `run`, which `job` made, and the others. Raises RuntimeError where the machine fails."""
    found: dict[str, Reading] = {}
    for name in judges(case):
        if run.outcome != "finished":
            found[name] = Reading(why_not=f"the first run ended as {run.outcome}")
            continue
        try:
            more = instrument(name).again(replace(job, after=None, after_args={}, export=(), predict=()))
            if trouble := next((one.trouble for one in more if one.trouble), ""):
                raise RuntimeError(trouble)
            if ended := next((one.outcome for one in more if one.outcome != "finished"), ""):
                kind = "second" if len(more) == 1 else "resumed" if name == BY["resume"] else "further"
                raise NotApplicable(f"the {kind} run ended as {ended}")
            found[name] = Reading(instrument(name).measure(run, *more))
        except NotApplicable as why:
            found[name] = Reading(why_not=str(why))
    return found
