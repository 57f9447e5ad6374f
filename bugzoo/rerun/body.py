"""Repeat the loop's own body on the first step's batch, from the initial weights: overfit one batch.

Loss, update and everything else are the script's own code. Random generators are reset at each repetition, so a batch
that the body draws itself is always the same. The script's objects are restored afterwards.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from bugzoo.errors import NotApplicable
from bugzoo.rerun.budget import Budget, OutOfTime
from bugzoo.rerun.iteration import prepared
from bugzoo.rerun.permit import past_of
from bugzoo.rerun.restore import back_at, forget, set_random, stepping_at
from bugzoo.running.result import Run
from bugzoo.watching.history import Snapshot
from bugzoo.watching.hooks import Hooks
from bugzoo.watching.live import Past
from bugzoo.watching.loop import Loop
from bugzoo.watching.recorder import Recorder
from bugzoo.watching.state import copied, same_numbers
from bugzoo.watching.trace import Trace

SECONDS = 4.0
"""Limit in processor time for a few repetitions."""


@dataclass(frozen=True)
class Repeated:
    """(steps,) loss and learning rate of each optimizer step. `error`: the exception that stopped them early, or ""."""

    losses: np.ndarray
    rates: np.ndarray
    error: str = ""


class _Listener(Recorder):
    """Counts the steps and checks whether each repetition calls the model with the same numbers."""

    def __init__(self, seconds: float) -> None:
        super().__init__(Trace(), None, graph=False, snapshots=False)
        self.loop.give_up()
        self.budget, self.begins, self.same = Budget(seconds), True, True
        self.expected: torch.Tensor | None = None

    def training_forward(self, module: nn.Module, args: tuple[Any, ...]) -> Any:
        super().training_forward(module, args)
        self.budget.check()
        if self.begins:
            self.begins = False
            tensor = next((leaf.detach() for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)), None)
            if tensor is not None and self.expected is not None:
                self.same = self.same and same_numbers(tensor, self.expected)
            elif tensor is not None:
                self.expected = tensor.clone()


def repeat(run: Run, times: int, seconds: float, enough: float, converting: bool = False) -> Repeated:
    """Repeat the body up to `times` and processor `seconds`, until the loss is below `enough` times the first one.

    `converting`: the body's statements that convert the batch run again, on the already converted batch.

    Raises NotApplicable, with the reason, if nothing may be re-run or the body cannot be repeated on one batch.
    """
    past = past_of(run)
    first = _beginning(past)
    counted = _counters(first.loop)
    for going_on in (counted, ()) if counted else ((),):
        repeated = _repeat(past, first, times, seconds, enough, going_on, converting)
        if repeated is not None:
            return repeated
    raise NotApplicable(
        "the loop's body calls the model with different numbers each time, so one batch cannot be repeated"
    )


def again(run: Run, times: int, converting: bool = False) -> None:
    """Run the body `times` times, for SECONDS at most, while the caller records its calls.

    Raises NotApplicable as `repeat`, and if no optimizer step ran.
    """
    repeated = repeat(run, times, SECONDS, 0.0, converting)
    if not len(repeated.losses):
        raise NotApplicable(f"the loop's body cannot be run again ({repeated.error or 'no optimizer step ran'})")


def at_rate(run: Run, rate: float, times: int, seconds: float) -> Repeated:
    """Call `repeat` with learning rate `rate` at each step. Parameter groups keep the ratios of their learning rates."""
    with stepping_at(rate):
        return repeat(run, times, seconds, -1.0)


def _beginning(past: Past) -> Snapshot:
    """Return the snapshot of the first step, in the training loop that was found later."""
    history, loop = past.history, past.moment.loop.loop
    if history is None:
        raise NotApplicable("the run was watched with snapshots=False, so its steps cannot be run again")
    if loop is None or history.first is None:
        raise NotApplicable("no loop was found around loss.backward() and optimizer.step()")
    if past.models.several_ranks():
        raise NotApplicable("one rank alone cannot re-run a step of several ranks")
    first = history.first
    if first.loop.code is not loop.code or first.iteration.step != 1:
        raise NotApplicable("the training loop was not known at its first step")
    if first.iteration.overwritten():
        raise NotApplicable("the first batch was overwritten in place after its step")
    if first.loop.node is loop.node:
        return first
    # before the first step the innermost loop was taken for the training loop, but a step spans an outer one
    values = {name: first.namespace[name] for name in loop.names if name in first.namespace}
    return replace(first, loop=loop, iteration=replace(first.iteration, values=values))


def _counters(loop: Loop) -> tuple[str, ...]:
    """Return the loop's counter names: `i` of `for i in range(n)` and of `for i, batch in enumerate(...)`."""
    if not isinstance(loop.node, ast.For) or not isinstance(loop.node.iter, ast.Call):
        return ()
    target, called = loop.node.target, getattr(loop.node.iter.func, "id", "")
    if called == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    elif called != "range" or len(loop.node.iter.args) > 2:
        return ()
    return (target.id,) if isinstance(target, ast.Name) and target.id != "_" else ()


def _repeat(
    past: Past, first: Snapshot, times: int, seconds: float, enough: float, counters: tuple[str, ...], converting: bool
) -> Repeated | None:
    """Repeat the body. Returns None if the batch did not stay the same."""
    listener, error = _Listener(seconds), ""
    hooks = Hooks(listener)
    body: Callable[[dict[str, Any]], None] | None = None
    with back_at(past, first) as names:
        # made after the first forward
        forget(optimizer for optimizer in past.moment.optimizers if optimizer not in first.state.optimizers)
        hooks.install()
        try:
            for number in range(times):
                values = copied(first.iteration.values)
                values |= {name: values[name] + number for name in counters if isinstance(values.get(name), int)}
                names.update(values)
                set_random(first.state)
                if number < 2 or body is None:  # compiled again, as the second repetition has the names of the first
                    body = prepared(first, names, None, converting)
                listener.begins = True
                body(names)
                if not listener.same:
                    return None
                losses = listener.table.column("loss")
                if len(losses) and 0 <= losses[-1] < enough * losses[0]:
                    break
        except OutOfTime:
            pass
        except (Exception, SystemExit) as raised:
            error = f"{type(raised).__name__}: {raised}"[:200]
        finally:
            hooks.remove()
    listener.waits.close()
    listener.waiting.finish()
    losses, rates = (listener.table.column(name).copy() for name in ("loss", "learning_rate"))
    return Repeated(losses, rates, error)
