"""Re-run one step of a watched run in anomaly mode and with probes, then restore everything.

The loop's body is compiled again from its source, with its own file name and line numbers, and run from a snapshot in
the loop's own namespace. Parameters, optimizer state, RNG states, containers and names are restored afterwards.
"""

import math
from typing import Any

import torch
from torch import nn

from bugzoo.errors import UserError
from bugzoo.rerun.iteration import given, prepared
from bugzoo.rerun.probe import Probe
from bugzoo.rerun.restore import back_at, put_back, set_rng
from bugzoo.watching.history import Iteration, Snapshot
from bugzoo.watching.hooks import Hooks
from bugzoo.watching.live import Past
from bugzoo.watching.recorder import Recorder
from bugzoo.watching.records import Replay
from bugzoo.watching.state import copied
from bugzoo.watching.trace import Trace


class _Reached(BaseException):
    """The requested step is done."""


class _Rerun(Recorder):
    """A recorder for the re-run: it restores the RNG states and lets the probe inspect backward passes."""

    def __init__(self, goal: int, start: int) -> None:
        super().__init__(Trace(), self._after, graph=False, snapshots=False)
        self.goal, self.moment.step = goal, start
        self.loop.give_up()
        self.iteration: Iteration | None = None
        self.given: tuple[Any, ...] | None = None
        self.probe: Probe | None = None
        self.info: dict[str, Any] = {}

    def training_forward(self, module: nn.Module, args: tuple[Any, ...]) -> Any:
        super().training_forward(module, args)
        arguments, self.given = self.given, None
        if self.iteration is not None:
            set_rng(self.iteration.rng)
            self.iteration = None
        return arguments

    def before_backward(self, root: Any) -> None:
        super().before_backward(root)
        if self.probe is not None and self.moment.step == self.goal:
            self.probe.before_backward(root)

    def _after(self, info: dict[str, Any]) -> None:
        if info["step"] >= self.goal:
            self.info = info
            raise _Reached


def execute(
    past: Past, snapshot: Snapshot, iterations: list[Iteration], step: int, from_start: bool = False
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Run `iterations` from `snapshot` up to optimizer step `step`. Returns ({"loss", "grad_norm"}, first finding).

    `from_start`: the first statement draws its batch itself, from the RNG state at the end of the step before.
    """
    rerun = _Rerun(step, snapshot.iteration.step)
    hooks = Hooks(rerun)
    probe = Probe(past.models.names())
    try:
        with back_at(past, snapshot) as names:
            hooks.install()
            try:
                for number, iteration in enumerate(iterations):
                    at = iteration.line if number == 0 else None
                    if number and iteration.between is not None and put_back(iteration.between, names):
                        at, rerun.given = iteration.line, given(iteration.between.args)
                        set_rng(iteration.rng)
                    names.update(copied(iteration.values))
                    rerun.iteration = iteration
                    if number == 0 and from_start and iteration.start is not None:
                        set_rng(iteration.start)
                    elif number == 0:
                        set_rng(iteration.rng)
                        rerun.given = given(snapshot.args)
                    if iteration.step == step or number == len(iterations) - 1:
                        rerun.probe = probe
                        with torch.autograd.detect_anomaly(check_nan=False), probe:
                            prepared(snapshot, names, at)(names)
                    else:
                        prepared(snapshot, names, at)(names)
            except _Reached:
                pass
            except Exception as error:
                rerun.info.setdefault("error", f"{type(error).__name__}: {error}")
            finally:
                hooks.remove()
    finally:
        rerun.waits.close()
    return rerun.info, probe.result()


def same(one: float, other: float) -> bool:
    """Return whether two numbers are exactly equal. NaN equals NaN."""
    return one == other or (math.isnan(one) and math.isnan(other))


def starts(iterations: list[Iteration]) -> tuple[bool, ...]:
    """Return the RNG states to try, in order: that of the step's start (True), that of its forward (False)."""
    return (True, False) if iterations[0].start is not None else (False,)


def _recorded(trace: Trace, step: int) -> float:
    return float(trace.loss[step - 1])


def replay(trace: Trace, step: int) -> Replay:
    """Re-run step `step` (from 1) of `trace`. `Trace.replay` describes what is repeated and what is raised."""
    live = trace.live
    if live is None:
        raise UserError("A trace loaded from a file cannot be replayed. Run the training under watch() again.")
    if live.no_rerun:
        raise UserError(live.no_rerun)
    if live.past is None:
        raise UserError(
            "Leave the `with bugzoo.watch()` block first: trace.replay(step) works after the run has ended."
        )
    past = live.past
    if not 1 <= step <= len(trace.step):
        raise UserError(f"There is no step {step}: the run has steps 1 to {len(trace.step)}.")
    history = past.history
    if history is None:
        raise UserError("This run was watched with snapshots=False, but a replay needs watch(snapshots=True).")
    if past.models.several_ranks():
        raise UserError("One rank alone cannot replay a step of several ranks. Run the script on one rank.")
    pinned = history.pinned
    plan = history.plan(step)
    if pinned is not None and pinned.iteration.step == step:
        plan = (pinned, [pinned.iteration])
    if plan is None:
        reach = history.reach()
        if reach is None and past.moment.loop.loop is None:
            raise UserError(
                "No loop was found around loss.backward() and optimizer.step(), so no step can be run again."
            )
        within = f"Steps {reach[0]} to {reach[1]} can be replayed." if reach else "No step can be replayed."
        raise UserError(f"Step {step} cannot be replayed: only the latest snapshots are kept. {within}")
    snapshot, iterations = plan
    for iteration in iterations:
        if iteration.overwritten():
            raise UserError(
                f"The batch of step {iteration.step} was overwritten in place after its step, so step {step} cannot be "
                "run again. Use a new tensor for each batch to make it replayable."
            )
    info: dict[str, Any] = {}
    first, loss, norm, faithful = None, math.nan, math.nan, False
    for from_start in starts(iterations):
        info, first = execute(past, snapshot, iterations, step, from_start)
        loss, norm = info.get("loss", math.nan), info.get("grad_norm", math.nan)
        faithful = "step" in info and same(loss, _recorded(trace, step))
        if faithful:
            break
    return Replay(step, loss, norm, faithful, first, _message(trace, step, info, faithful, first))


def _message(trace: Trace, step: int, info: dict[str, Any], faithful: bool, first: dict[str, Any] | None) -> str:
    if "error" in info:
        return f"Step {step} stopped with {info['error']} when it was run again."
    if "step" not in info:
        return f"Step {step} was not reached when the loop's body was run again."
    text = f"Step {step}: loss {info['loss']:.6g}, gradient norm {info['grad_norm']:.6g}, "
    text += "as recorded. " if faithful else f"but {_recorded(trace, step):.6g} was recorded: not the same step. "
    if first is None:
        return text + "Every operation's result was finite."
    where = f" ({first['file']}:{first['line']}: {first['code']})" if first.get("file") else ""
    text += f"The first result that is not finite: {first['op']}, {first['direction']}, in {first['module']}{where}."
    return text
