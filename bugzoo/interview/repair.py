"""A candidate's repaired file, judged by what it does: never by what it says."""

import math
from dataclasses import replace
from typing import Any

from bugzoo import diagnostics
from bugzoo.diagnostics import judge_all
from bugzoo.grading.evaluation import task
from bugzoo.grading.grade import grade as grade_behaviour
from bugzoo.interview.deck import Case
from bugzoo.interview.evidence import SCRIPT
from bugzoo.running import Run, run_worker


def grade(case: Case, source: str) -> dict[str, Any]:
    """{"share": 0..1, "why": text, "checks": [{"check", "passed", "saw"}]}.

    The grading room judges it, on data that the file never saw. Cases that need a limit, several ranks or a second run
    to show themselves are judged under those conditions here.
    """
    if _needs_conditions(case):
        return _under_conditions(case, source)
    result = grade_behaviour(source, case.scenario, seeds=(case.scenario.seed,))
    checks = [_check(check.name, check.passed, check.saw) for check in result.checks]
    if not checks:
        checks = [_check("gradable", False, result.message)]
    return _summary(result.share, checks)


def _needs_conditions(case: Case) -> bool:
    program = case.scenario.program
    again = bool(_repeated(case))
    try:
        task(program)
    except Exception:  # no data of the grader's own for this program
        return True
    return again or case.scenario.ranks > 1 or bool(case.fault.needs)


def _repeated(case: Case) -> list[str]:
    """Instruments in the case's evidence that run the script again; the others are measured anyway."""
    named = {claim.split(".")[0] for claim in case.fault.evidence} & set(diagnostics.names())
    return sorted(name for name in named if diagnostics.reruns(name))


def _under_conditions(case: Case, source: str) -> dict[str, Any]:
    """Integrity (the twin's budget and model) is the ground; vital signs and recovery are half of the share each."""
    scenario = case.scenario
    run, twin = _run(case, source), _run(case, scenario.base)
    quiet = {verdict.instrument for verdict in judge_all(twin.readings) if verdict.fired}
    alarms = [v for v in judge_all(run.readings) if v.fired and v.instrument not in quiet]
    low, high = scenario.facts["tiny_healthy"]
    metric = scenario.facts["metric"]
    value = run.trace.metrics.get(metric)
    steps, needed = len(run.trace.step), len(twin.trace.step)
    weights, usual = _weights(run), _weights(twin)
    said = "missing" if value is None else f"{value:.4g}"
    checks = [
        _check("budget", steps == needed, f"{steps} steps; {needed} were expected"),
        _check("model size", weights == usual, f"{weights} weights; {usual} were expected"),
        _check("run", run.outcome == "finished", _ending(run)),
        _check("instruments", not alarms, "; ".join(v.message for v in alarms) or "no instrument fires"),
        _check(
            metric, value is not None and low <= value <= high, f"{metric} is {said}; healthy is {low:g} to {high:g}"
        ),
    ]
    whole = all(check["passed"] for check in checks[:3])
    return _summary((0.5 * (not alarms) + 0.5 * checks[4]["passed"]) if whole else 0.0, checks)


def _summary(share: float, checks: list[dict[str, Any]]) -> dict[str, Any]:
    failed = [check for check in checks if not check["passed"]]
    why = "; ".join(f"{check['check']}: {check['saw']}" for check in failed) or "the repaired program is healthy"
    return {"share": share, "why": why, "checks": checks}


def _check(name: str, passed: bool, saw: str) -> dict[str, Any]:
    return {"check": name, "passed": bool(passed), "saw": saw}


def _run(case: Case, source: str) -> Run:
    job = case.scenario.job(after="bugzoo.diagnostics:measure_all", after_args={"max_cost": 1, "also": _repeated(case)})
    run = run_worker(replace(job, source=source, file=SCRIPT))
    if run.outcome == "stopped":  # a worker that Ctrl-C ended hands over what it had
        raise KeyboardInterrupt
    return run


def _weights(run: Run) -> int:
    return sum(math.prod(parameter.shape) for parameter in run.trace.parameters)


def _ending(run: Run) -> str:
    said = f": {run.trace.error.get('type')}: {run.trace.error.get('message')}" if run.trace.error else ""
    return f"it ended as {run.outcome}{said}"
