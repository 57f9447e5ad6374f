"""Does every step carry checks that only a search for a mistake needs?

In anomaly mode each operation of a forward pass notes its stack, and each of the backward pass is searched for NaN: fine for
the one step in which a NaN is looked for, and several times the cost of an ordinary step in all the others. `checked_share` is
the share of the backward passes that ran so when the loop's body was run again; where it cannot be, whether the switch is still
on, or whether the graphs that the run left behind carry such notes.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "checked_share": ("share of the backward passes that search for NaN", "0"),
    "noted": ("graphs left behind that carry the stack of each operation", "0"),
}
HEALTHY = example()
SICK = example(("torch.manual_seed(0)", "torch.manual_seed(0)\ntorch.autograd.set_detect_anomaly(True)"))


@contextlib.contextmanager
def _switches() -> Iterator[list[bool]]:
    """Whether anomaly mode was on, at each backward() in it."""
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


def measure(run: Run) -> dict[str, Any]:
    """A share and a count. Raises NotApplicable without a step, or without the live objects."""
    need_steps(run, 1)
    left = [one for one in live(run).namespace.values() if isinstance(one, torch.Tensor) and one.grad_fn is not None]
    noted = sum("traceback_" in (one.grad_fn.metadata or {}) for one in left if one.grad_fn is not None)  # pyright: ignore[reportOperatorIssue] (a dict, not the method that the stubs say)
    checked = float(torch.is_anomaly_enabled() or noted > 0)
    with contextlib.suppress(NotApplicable), _switches() as heard:
        again(run, 2)
        checked = max(checked if noted else 0.0, sum(heard) / len(heard)) if heard else checked
    return {"checked_share": checked, "noted": float(noted)}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where any backward pass of an ordinary step ran in anomaly mode."""
    shown, checked = pick(numbers, *SHOWN), numbers["checked_share"]
    if checked > 0:
        text = f"{share(checked)} of the backward passes run in anomaly mode, which searches each gradient for NaN"
        return Verdict("backward_checks", True, text, shown, (Suspect("speed/anomaly_mode_left_on", 0.9, text),))
    return Verdict("backward_checks", False, "no step searches its gradients for NaN", shown)
