"""Does a *break* exercise's model compute the same with gradients and without, and what do later tokens do in each mode?

`dependency` calls the model in eval mode without gradients, as a view does. An edit that shows in one mode only is a trick:
it trains an honest model, or evaluates one. So each number here is the worst one of the train mode and the eval mode, each
with gradients, without, and in inference mode. It is measured in the submission's process after its run, by `inside`.
"""

from itertools import product
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics import Call, batches, dependency, model_of, shifted
from bugzoo.rerun.model import call, main_output, quiet
from bugzoo.running import Run

GRADIENTS = (torch.no_grad, torch.enable_grad, torch.inference_mode)
SAME = 1e-3
"""Largest difference of outputs with gradients and without, over their size, that counts as rounding."""
SAYS = {
    "grad_gap": "The model was called with gradients, without, and in inference mode: largest relative change of its outputs",
    "future_leak": "Later tokens were changed in train mode and in eval mode: smaller change of earlier outputs",
    "later_weight": "The softmax of the attention was read in train mode and in eval mode: largest weight on a later position",
}
"""Number -> what was done, up to its value."""


class SquareSoftmax(TorchDispatchMode):
    """Reads each softmax over a (..., time, time) table: `later` is its largest value above the diagonal."""

    def __init__(self) -> None:
        super().__init__()
        self.later: list[float] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = function.__name__.split(".")[0].strip("_")
        if name in ("softmax", "safe_softmax") and result.ndim > 2 and result.shape[-1] == result.shape[-2]:
            self.later.append(float(result.triu(1).max()))
        return result


def measure(run: Run) -> dict[str, float]:
    """Return `grad_gap`, the smallest `future_leak` and the largest `later_weight`; one is absent if a mode does not have it.

    The last two need a batch whose targets are its tokens one position later. Raises NotApplicable without a batch.
    """
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    place = arguments.main()
    shift = None if place is None else shifted(arguments.leaves[place], batch.targets)
    numbers = {"grad_gap": max(_grad_gap(run, batch, training) for training in (True, False))}
    if place is None or shift is None or shift[1]:
        return numbers
    each = [_in_mode(run, batch, arguments, place, shift[0], *mode) for mode in product((True, False), GRADIENTS)]
    for name, worst in {"future_leak": min, "later_weight": max}.items():
        if all(name in reading for reading in each):
            numbers[name] = worst(reading[name] for reading in each)
    return numbers


def _grad_gap(run: Run, batch: Any, training: bool) -> float:
    """Return how far the outputs differ, over their size."""
    with quiet(model_of(run, batch), training=training) as model:
        usual, *others = (call(_with(model, gradients), batch.args, batch.kwargs).double() for gradients in GRADIENTS)
        return max(float((answer - usual).norm() / usual.norm().clamp(min=1e-30)) for answer in others)


def _in_mode(run: Run, batch: Any, args: Call, place: int, axis: int, training: bool, context: Any) -> dict[str, float]:
    """`call` sets the seed, so that dropout drops the same units before and after a change."""
    with quiet(model_of(run, batch), training=training) as module:
        model = _with(module, context)
        with SquareSoftmax() as softmax:
            out = call(model, batch.args, batch.kwargs)
        numbers = dependency.future(model, args, place, out, axis)
    leak = {"future_leak": numbers["future_leak"]} if "future_leak" in numbers else {}
    return leak | ({"later_weight": max(softmax.later)} if softmax.later else {})


def _with(model: torch.nn.Module, gradients: Any) -> Any:
    """Return a function that calls the model in one of the contexts GRADIENTS, and returns its output without a graph."""

    def asked(*args: Any, **kwargs: Any) -> torch.Tensor:
        with gradients():
            return main_output(model(*args, **kwargs)).detach()

    return asked
