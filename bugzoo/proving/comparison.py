"""A broken run beside its healthy twin: run both and return one record for JSON."""

from collections.abc import Callable, Iterable
from typing import Any

import torch

from bugzoo.diagnostics import judge_all, measure_all, reruns
from bugzoo.diagnostics.checkup import likeliest_first
from bugzoo.faults.evidence import parse
from bugzoo.running import Run
from bugzoo.scenario import Scenario

OnStep = Callable[[str, dict[str, Any]], None]


def compare(scenario: Scenario, on_step: OnStep | None = None) -> dict[str, Any]:
    """Run `scenario` and, if it has a fault, its healthy twin. `on_step(which, info)` is called at every step.

    Raises KeyboardInterrupt if the user stopped one of the runs, as half a comparison is useless.
    """
    torch.set_num_threads(1)  # as in a worker, so that the numbers agree
    claims = (parse(text).instrument for fault, _ in scenario.specs for text in fault.evidence)
    again = tuple({name for name in claims if name not in ("outcome", "metrics") and reruns(name)})
    broken = _one(scenario, "broken", on_step, again) if scenario.faults else None
    healthy = _one(scenario.healthy(), "healthy", on_step, again)
    main = broken or healthy
    return {
        "program": scenario.program,
        "faults": list(scenario.faults),
        "seed": scenario.seed,
        "device": scenario.device,
        "size": scenario.size,
        "metric": scenario.facts["metric"],
        "outcome": main["outcome"],
        "error": main.pop("error"),
        "first_non_finite": main.pop("first_non_finite"),
        "broken": broken,
        "healthy": {key: value for key, value in healthy.items() if key not in ("error", "first_non_finite")},
        "environment": main.pop("environment"),
    }


def _one(scenario: Scenario, which: str, on_step: OnStep | None, again: tuple[str, ...]) -> dict[str, Any]:
    tell = (lambda info: on_step(which, info)) if on_step else None
    run = scenario.run(on_step=tell)
    if run.outcome == "stopped":
        raise KeyboardInterrupt
    return record(run, again)


def record(run: Run, again: Iterable[str] = ()) -> dict[str, Any]:
    """Return a run's losses (one per step, from step 1), gradient norms, metrics and the instruments that fired.

    `again` names instruments to use that re-run the script.
    """
    trace = run.trace
    readings = run.readings or measure_all(run, max_cost=1, also=again)
    first = trace.first_non_finite()
    places = ("module", "op", "direction", "file", "line")
    error = {key: trace.error.get(key) for key in ("type", "message", "file", "line")} if trace.error else None
    return {
        "outcome": run.outcome,
        "losses": [float(value) for value in trace.loss],
        "grad_norms": [float(value) for value in trace.grad_norm],
        "metrics": dict(trace.metrics),
        "seconds": round(run.seconds, 3),
        "fired": [{"instrument": v.instrument, "message": v.message} for v in likeliest_first(judge_all(readings))],
        "error": error,
        "first_non_finite": {"step": first.step} | {key: first.data.get(key) for key in places} if first else None,
        "environment": dict(trace.environment),
    }
