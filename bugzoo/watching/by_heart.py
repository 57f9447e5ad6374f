"""The loop's own body again and again on the first step's batch, from the weights that the training began with.

Loss, update and everything else are the script's, as it stands in the loop. Random numbers begin anew at each repetition,
so that a batch that the body draws itself is the same one each time. The script's objects are as before afterwards.
"""

import ast
import contextlib
import io
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from bugzoo.errors import UserError
from bugzoo.watching.history import Snapshot
from bugzoo.watching.hooks import Hooks
from bugzoo.watching.loop import Loop
from bugzoo.watching.recorder import Recorder
from bugzoo.watching.replay import Past, prepared
from bugzoo.watching.state import Frozen, State, copied, same_numbers, set_rng
from bugzoo.watching.trace import Trace


@dataclass(frozen=True)
class Repeated:
    """(steps,) each: the loss and the learning rate of each optimiser step; `error` is what ended them early, or ""."""

    losses: np.ndarray
    rates: np.ndarray
    error: str = ""


class _OutOfTime(BaseException):
    """The processor seconds are over; no script's `except Exception` may hold it."""


class _Listener(Recorder):
    """Counts the steps and looks whether each repetition calls the model with the same numbers."""

    def __init__(self, until: float) -> None:
        super().__init__(Trace(), None, graph=False, snapshots=False)
        self.loop.give_up()
        self.until, self.begins, self.same = until, True, True
        self.expected: torch.Tensor | None = None

    def training_forward(self, module: nn.Module, args: tuple[Any, ...]) -> Any:
        super().training_forward(module, args)
        if time.thread_time() > self.until:
            raise _OutOfTime
        if self.begins:
            self.begins = False
            given = next((leaf.detach() for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)), None)
            if given is not None and self.expected is not None:
                self.same = self.same and same_numbers(given, self.expected)
            elif given is not None:
                self.expected = given.clone()


def by_heart(past: Past, times: int, seconds: float, enough: float, converting: bool = False) -> Repeated:
    """At most so many repetitions and processor seconds, until the loss is that part of the first one.

    `converting`: what the body makes of the batch before the model gets it is done again, to what came of it the first time.

    Raises UserError, with the reason, where the body cannot be run for one batch.
    """
    first = _beginning(past)
    counted = _counters(first.loop)
    for going_on in (counted, ()) if counted else ((),):
        found = _repeat(past, first, times, seconds, enough, going_on, converting)
        if found is not None:
            return found
    raise UserError(
        "the loop's body calls the model with other numbers each time, so that one batch cannot be repeated"
    )


def _beginning(past: Past) -> Snapshot:
    """The snapshot of the first step, in the loop that the training turned out to have."""
    history, loop = past.history, past.moment.loop.loop
    if history is None:
        raise UserError("the run was watched with snapshots=False, so that its steps cannot be run again")
    if loop is None or history.first is None:
        raise UserError("no loop was found around loss.backward() and optimizer.step()")
    if past.models.several_ranks():
        raise UserError("a step of several ranks cannot be run again by one of them")
    first = history.first
    if first.loop.code is not loop.code or first.iteration.step != 1:
        raise UserError("the training loop was not known from its first step on")
    if first.iteration.overwritten():
        raise UserError("the first batch was overwritten in place after its step")
    if first.loop.node is loop.node:
        return first
    # before the first step the innermost loop was taken for it, and a step is made around that
    values = {name: first.namespace[name] for name in loop.names if name in first.namespace}
    return replace(first, loop=loop, iteration=replace(first.iteration, values=values))


def _counters(loop: Loop) -> tuple[str, ...]:
    """Names in which the loop counts its iterations: `i` of `for i in range(n)` and of `for i, batch in enumerate(...)`."""
    if not isinstance(loop.node, ast.For) or not isinstance(loop.node.iter, ast.Call):
        return ()
    target, called = loop.node.target, getattr(loop.node.iter.func, "id", "")
    if called == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    elif called != "range" or len(loop.node.iter.args) > 2:
        return ()
    return (target.id,) if isinstance(target, ast.Name) and target.id != "_" else ()


def _repeat(
    past: Past,
    first: Snapshot,
    times: int,
    seconds: float,
    enough: float,
    counters: tuple[str, ...],
    converting: bool,
) -> Repeated | None:
    """None where the batch did not stay the same."""
    names = first.frame_globals if first.top_level else dict(first.namespace)
    state = State(past.models.ordered(), past.moment.optimizers, {**first.namespace, **names}, True, first.state)
    frozen = Frozen(state, names, first.frame_globals)
    listener, error = _Listener(time.thread_time() + seconds), ""
    hooks, silent = Hooks(listener), io.StringIO()
    body: Callable[[dict[str, Any]], None] | None = None
    with contextlib.ExitStack() as stack:
        stack.callback(frozen.restore)
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(contextlib.redirect_stdout(silent))
        stack.enter_context(contextlib.redirect_stderr(silent))
        stack.enter_context(torch.enable_grad())
        first.state.restore()
        for optimizer in past.moment.optimizers:
            if optimizer not in first.state.optimizers:  # made, or found, after the first forward
                optimizer.state = defaultdict(dict)
        names.update(first.namespace)
        hooks.install()
        stack.callback(hooks.remove)
        try:
            for number in range(times):
                given = copied(first.iteration.values)
                given |= {name: given[name] + number for name in counters if isinstance(given.get(name), int)}
                names.update(given)
                set_rng(first.state.rng or {})
                for put, old in first.state.generators:
                    put(old)
                if number < 2 or body is None:  # a name that the first repetition made is known to the second
                    body = prepared(first, names, None, converting)
                listener.begins = True
                body(names)
                if not listener.same:
                    return None
                losses = listener.table.column("loss")
                if len(losses) and 0 <= losses[-1] < enough * losses[0]:
                    break
        except _OutOfTime:
            pass
        except (Exception, SystemExit) as raised:
            error = f"{type(raised).__name__}: {raised}"[:200]
    listener.waits.close()
    listener.waiting.finish()
    losses, rates = (listener.table.column(name).copy() for name in ("loss", "learning_rate"))
    return Repeated(losses, rates, error)
