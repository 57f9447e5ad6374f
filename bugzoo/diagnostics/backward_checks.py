"""Does the backward pass search for NaN at every step?

In anomaly mode autograd records the stack of each forward operation and checks each backward operation for NaN. That helps at the
one step where a NaN is traced, and makes every ordinary step several times slower. `checked_share` is the share of backward
passes in anomaly mode when the loop's body is run again. If the body cannot be run again, two signs count: the switch is still
on, or the graphs left by the run carry recorded stacks.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps, share
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
VIEW = "time"
TITLE = "Backward passes"
KNOWN_PROBLEMS = (
    "A false positive where one step was traced in anomaly mode on purpose, and a variable still holds its loss at the end. "
    "It misses anomaly mode on at later steps only, or switched off after the loop, unless a variable still holds such a "
    "graph."
)
HEALTHY = example()
SICK = example(("torch.manual_seed(0)", "torch.manual_seed(0)\ntorch.autograd.set_detect_anomaly(True)"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """A share between 0 and 1, and a count."""

    checked_share: float = number("share of backward passes that look for NaN", (0, 0))
    noted: float = number("graphs at the end that store a stack per operation", (0, 0))


searching = Alarm(
    above("checked_share"),
    "The backward passes were recorded. {checked_share:.0%} of them search every gradient for NaN.",
    "No pass of an ordinary step should do so ({limits[checked_share]:.0%}).",
)
ALARMS = (searching,)


@contextlib.contextmanager
def _switches() -> Iterator[list[bool]]:
    """Collects whether anomaly mode was on, at each backward() within it."""
    heard: list[bool] = []
    backward = torch.autograd.backward

    def listening(*args: Any, **kwargs: Any) -> Any:
        heard.append(torch.is_anomaly_enabled())
        return backward(*args, **kwargs)

    torch.autograd.backward = listening
    try:
        yield heard
    finally:
        torch.autograd.backward = backward


def measure(run: Run) -> Numbers:
    """A share and a count. Raises NotApplicable without a step, or without the live objects."""
    need_steps(run, 1)
    graphs = [value.grad_fn for value in live(run).namespace.values() if isinstance(value, torch.Tensor)]
    noted = sum("traceback_" in (graph.metadata or {}) for graph in graphs if graph is not None)  # pyright: ignore[reportOperatorIssue] (a dict, not the method that the stubs say)
    checked = float(torch.is_anomaly_enabled() or noted > 0)
    with contextlib.suppress(NotApplicable), _switches() as heard:
        again(run, 2)
        checked = max(checked if noted else 0.0, sum(heard) / len(heard)) if heard else checked
    return Numbers(checked_share=checked, noted=float(noted))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if any backward pass of an ordinary step ran in anomaly mode."""
    suspects: tuple[Suspect, ...] = ()
    text = "no backward pass runs in anomaly mode"
    if searching(numbers):
        text = (
            f"{share(numbers.checked_share)} of the backward passes run in anomaly mode "
            f"(usually {Numbers.usual('checked_share')}), which searches every gradient for NaN"
        )
        suspects = (Suspect("speed/anomaly_mode_left_on", 0.9, text),)
    return Verdict("backward_checks", bool(suspects), text, numbers.labeled(), suspects)
