"""A fault that starts at some step, beyond the steps of the training: is it gone, or only postponed?

If a fault has a parameter `step`, the repair is run once more as if that many steps had passed: its counters start there. This
run has the usual length and is judged by the fault's own evidence only. A repair may wait in a way that is not met here:
its decisions are read as well (`own_decisions`).
"""

import ast
from collections.abc import Callable
from dataclasses import replace

from bugzoo.diagnostics import instrument
from bugzoo.faults.evidence import parse as evidence
from bugzoo.faults.model import Fault
from bugzoo.grading.model import Check
from bugzoo.grading.partial_credit import shows
from bugzoo.grading.symptoms import symptom
from bugzoo.running import Job, Run
from bugzoo.scenario import Scenario
from bugzoo.syntax import parse

TRIGGER = "step"
"""Name of the fault parameter that gives its onset."""


def waiting(case: Scenario) -> list[Fault]:
    """Return the faults of a case that start after some steps."""
    return [fault for fault, _ in case.specs if TRIGGER in fault.params]


def put_off(job: Job, case: Scenario, run: Callable[[Job], Run]) -> list[Check]:
    """Run the submission's `job` from a later step on. Returns nothing if no fault starts at a step, or none is made there.

    Raises RuntimeError if the machine fails.
    """
    faults = waiting(case)
    first = int(max((fault.params[TRIGGER].high for fault in faults), default=0))
    if not faults or (text := started_later(job.source, first)) is None:
        return []
    named = {evidence(text).instrument for fault in faults for text in fault.evidence}
    live = any(instrument(name).COST > 0 for name in named if name not in ("outcome", "metrics"))
    rerun = run(replace(job, source=text, after=job.after if live else None, export=(), predict=()))
    sentence = f"The program was run again as if {first} steps had passed."
    if any(shows(fault, rerun.readings) for fault in faults):
        read = sorted(name for name in named if name in rerun.readings and rerun.readings[name].applies)
        symptoms = " ".join(symptom(name, rerun.readings[name].numbers) for name in read)
        saw = f"{sentence} The original fault shows there. {symptoms or f'The run ended as {rerun.outcome}.'}"
        return [Check("later steps", "wrong", saw, "It should be gone at every step.", float(first), group="every_run")]
    if rerun.outcome != "finished" or not len(rerun.trace.step):
        return []
    saw = f"{sentence} The original fault does not show there."
    return [Check("later steps", "passed", saw, "", 0.0, group="every_run")]


def started_later(source: str, first: int) -> str | None:
    """Return `source` with each variable that starts at 0 and grows by 1 starting at `first`; None if it has none.

    Raises SyntaxError.
    """
    tree = parse(source)
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    counted = {ast.unparse(node.target) for node in ast.walk(tree) if isinstance(node, ast.AugAssign) and _grows(node)}
    counted |= {name for node in assigned if ast.unparse(node.value) == f"{(name := ast.unparse(node.targets[0]))} + 1"}
    moved = [node for node in assigned if ast.unparse(node) in {f"{name} = 0" for name in counted}]
    for node in moved:
        node.value = ast.Constant(first)
    return ast.unparse(ast.fix_missing_locations(tree)) if moved else None


def _grows(node: ast.AugAssign) -> bool:
    return isinstance(node.op, ast.Add) and ast.unparse(node.value) == "1"
