"""After a run: find the step, module, operation and line of the first NaN or infinity, and the cause of a crash."""

import math
from typing import cast

import torch

from bugzoo.rerun import crashed
from bugzoo.rerun.step import execute, same, starts
from bugzoo.watching.history import Snapshot
from bugzoo.watching.live import Past
from bugzoo.watching.records import Event, EventData
from bugzoo.watching.trace import Trace


def explain(trace: Trace, past: Past) -> None:
    """Do the work of `Trace.explain`, which calls this once. If nothing may be re-run, the trace is unchanged."""
    live = trace.live
    if live is None or live.no_rerun:
        return
    _non_finite(trace, past)
    if live.crashed is not None:
        trace.error["scene"] = {**trace.error.get("scene", {}), **crashed.found(live.crashed)}
        live.crashed = None  # it kept a batch alive


def _non_finite(trace: Trace, past: Past) -> None:
    """Complete the first non_finite event of `trace` by re-running that step. Unknown values stay None."""
    event = trace.earliest("non_finite")
    history = past.history
    if event is None or event.data.get("op") is not None:
        return
    if history is None or past.models.several_ranks():
        _name_gradient(trace, event)
        return
    plans = [(history.pinned, [history.pinned.iteration])] if history.pinned is not None else []
    plan = history.plan(event.step)
    if plan is not None:
        plans.append(plan)
    attempts = [(*plan, start) for plan in plans for start in starts(plan[1])]
    for number, (snapshot, iterations, from_start) in enumerate(attempts):
        if len(iterations) == 1 and _made_by_update(trace, past, event, snapshot):
            return
        if any(iteration.overwritten() for iteration in iterations):
            continue
        info, first = execute(past, snapshot, iterations, event.step, from_start)
        faithful = "step" in info and same(info["loss"], float(trace.loss[event.step - 1]))
        # in another step than the recorded one, a NaN that came from outside may be the re-run's own
        last = number == len(attempts) - 1 and first is not None and first["op"] != "input"
        if first is not None and (faithful or last):
            event.data.update(cast(EventData, first | {"faithful": faithful}))
            return
    _name_gradient(trace, event)


def _made_by_update(trace: Trace, past: Past, event: Event, snapshot: Snapshot) -> bool:
    """Return whether parameters were non-finite before the step's forward: then the previous update caused it."""
    for parameter, value in zip(snapshot.state.parameters, snapshot.state.values, strict=True):
        if not bool(torch.isfinite(value).all()):
            before = max(event.step - 1, 0)
            index = int(trace.optimizer[before - 1]) if before else 0
            kind = type(past.moment.optimizers[index]).__name__ if before else "initial value"
            name = past.moment.parameters.name(parameter)
            event.step = max(before, 1)
            module = past.models.owner(parameter)
            event.data.update(module=module, op=kind, direction="update", parameter=name, file=None, line=None)
            return True
    return False


def _name_gradient(trace: Trace, event: Event) -> None:
    """Without a replay, name the first parameter with a non-finite gradient."""
    if event.data.get("direction") == "gradient" and event.step <= len(trace.param_grad_norm):
        row = trace.param_grad_norm[event.step - 1]
        bad = [p.name for p, n in zip(trace.parameters, row.tolist(), strict=True) if math.isinf(n)]
        nan = [p.name for p, n in zip(trace.parameters, row.tolist(), strict=True) if math.isnan(n)]
        event.data["parameter"] = next(iter(bad + nan), None)
