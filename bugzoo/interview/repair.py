"""A candidate's repaired file, judged by what it does: never by what it says."""

import math
from dataclasses import replace
from typing import Any

from bugzoo.diagnostics import judge_all
from bugzoo.interview.deck import Case
from bugzoo.running import Job, Run, run_worker


def grade(case: Case, source: str) -> dict[str, Any]:
    """{"share": 0..1, "why": text, "checks": [{"check", "passed", "saw"}]}.

    Integrity (the twin's budget and model) is the ground of everything; half of the share is for vital signs (the run
    ends and no instrument fires that is quiet on the healthy twin), half for recovery (the metric is healthy).
    """
    scenario = case.scenario
    run, twin = _run(case, source), _run(case, scenario.base)
    quiet = {verdict.instrument for verdict in judge_all(twin.numbers) if verdict.fired}
    alarms = [v for v in judge_all(run.numbers) if v.fired and v.instrument not in quiet]
    low, high = scenario.facts["tiny_healthy"]
    metric = scenario.facts["metric"]
    value = run.trace.metrics.get(metric)
    steps, needed = len(run.trace.step), len(twin.trace.step)
    weights, usual = _weights(run), _weights(twin)
    checks = [
        _check("same budget", steps == needed, f"{steps} steps; {needed} were expected"),
        _check("same model", weights == usual, f"{weights} weights; {usual} were expected"),
        _check("runs to its end", run.outcome == "finished", _ending(run)),
        _check("instruments are quiet", not alarms, "; ".join(v.message for v in alarms) or "none fires"),
        _check(
            "metric is healthy",
            value is not None and low <= value <= high,
            f"{metric} is {'missing' if value is None else f'{value:.4g}'}; {low:g} to {high:g} is healthy",
        ),
    ]
    failed = [check for check in checks if not check["passed"]]
    whole = all(check["passed"] for check in checks[:3])
    share = (0.5 * (not alarms) + 0.5 * checks[4]["passed"]) if whole else 0.0
    why = "; ".join(f"{c['check']}: {c['saw']}" for c in failed) or "the repaired program is healthy"
    return {"share": share, "why": why, "checks": checks}


def _check(name: str, passed: bool, saw: str) -> dict[str, Any]:
    return {"check": name, "passed": bool(passed), "saw": saw}


def _run(case: Case, source: str) -> Run:
    job: Job = case.scenario.job(after="bugzoo.diagnostics:measure_all", after_args={"max_cost": 1})
    run = run_worker(replace(job, source=source, file="train.py"))
    if run.outcome == "stopped":  # a worker that Ctrl-C ended hands over what it had
        raise KeyboardInterrupt
    return run


def _weights(run: Run) -> int:
    return sum(math.prod(parameter.shape) for parameter in run.trace.parameters)


def _ending(run: Run) -> str:
    said = f": {run.trace.error.get('type')}: {run.trace.error.get('message')}" if run.trace.error else ""
    return f"it ended as {run.outcome}{said}"
