"""How many host syncs and prints does each training step make?

.item(), float(), a tensor in `if`, .cpu() and print() make Python wait until the device has finished. Otherwise the device works
while Python prepares the next operations. One host sync per step, for the loss, is usual; one per parameter is not. The loop's
body is run again on its first batch, and such calls are counted. They count on tensors from the model, on its gradients, and on
tensors of another device. Making a batch on the CPU waits for nothing. Calls inside the optimizer's own step do not count. A loop
that calls the model forty times per step, as in reinforcement learning, may sync forty times.
"""

import builtins
import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from bugzoo import rerun, running, watching
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.running.result import Run

COST = 1
VIEW = "time"
TITLE = "Host syncs"
KNOWN_PROBLEMS = (
    "A false positive for many .item() calls on a CPU, where they wait for nothing, and for logging done only at the first "
    "step. "
    'It misses .to("cpu"), nonzero(), boolean indexing and torch.cuda.synchronize(), and everything inside the optimizer\'s '
    "own step."
)
HEALTHY = example()
SICK = example(
    (
        "optimizer.step()",
        "optimizer.step(), print([(p.grad.norm().item(), p.norm().item()) for p in model.parameters()])",
    )
)
TIMES = 3
_WAITS = {"item", "tolist", "numpy", "cpu", "__format__", "__bool__", "__int__", "__float__", "__index__", "__array__"}


_OWN = tuple(f"{Path(str(room.__file__)).resolve().parent}{os.sep}" for room in (torch, watching, rerun, running))
_THROUGH = ("torch/_tensor.py", "torch/_tensor_str.py", "torch/overrides.py")
"""Files of torch that a script's own float(x), or f"{x:.2f}", goes through."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts of the loop's body when it runs again."""

    syncs: float = number("host syncs per forward pass", (0, 4))
    printed: float = number("lines printed per step", (0, 1))


frequent_syncs = Alarm(
    above("syncs", 4.5),
    "The host syncs of a step were counted. There are {syncs:.0f} per forward pass.",
    "At most {limits[syncs]:.2g} pass; {usual[syncs]} are usual.",
)
ALARMS = (frequent_syncs,)


@dataclass
class _Calls:
    syncs: int = 0
    printed: int = 0
    steps: int = 0
    forwards: int = 0
    depth: int = 0
    inside: bool = False


class _Fetches(TorchFunctionMode):
    def __init__(self, calls: _Calls) -> None:
        super().__init__()
        self.calls = calls
        self.computed = WeakIdKeyDictionary()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        waited_for = [
            leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor) and self._computed(leaf)
        ]
        result = function(*args, **(kwargs or {}))
        if waited_for and not self.calls.inside:
            if getattr(function, "__name__", "") in _WAITS and _by_script(sys._getframe(1)):
                self.calls.syncs += 1
            self.computed.update((leaf, True) for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor))
        return result

    def _computed(self, tensor: torch.Tensor) -> bool:
        """Is it a weight, computed from one, or on another device?"""
        with torch._C.DisableTorchFunction():
            return tensor.requires_grad or tensor.device.type != "cpu" or tensor in self.computed


def _by_script(frame: FrameType | None) -> bool:
    """Is the caller the script's code, and neither torch's own nor the watch's?"""
    while frame is not None and frame.f_code.co_filename.endswith(_THROUGH):
        frame = frame.f_back
    return frame is not None and not frame.f_code.co_filename.startswith(_OWN)


@contextlib.contextmanager
def _counted() -> Iterator[_Calls]:
    calls, write = _Calls(), builtins.print

    def begins(*_: Any) -> None:
        calls.inside = True

    def ends(*_: Any) -> None:
        calls.inside = False
        calls.steps += 1

    def enters(*_: Any) -> None:
        calls.forwards += calls.depth == 0
        calls.depth += 1

    def leaves(*_: Any) -> None:
        calls.depth -= 1

    def printing(*args: Any, **kwargs: Any) -> None:
        calls.printed += 1
        write(*args, **kwargs)

    handles = [register_optimizer_step_pre_hook(begins), register_optimizer_step_post_hook(ends)]
    handles += [register_module_forward_pre_hook(enters), register_module_forward_hook(leaves, always_call=True)]
    builtins.print = printing
    try:
        with _Fetches(calls):
            yield calls
    finally:
        builtins.print = write
        for handle in handles:
            handle.remove()


def measure(run: Run) -> Numbers:
    """Lines per step, host syncs per forward pass. Raises NotApplicable if the body cannot be run again."""
    with _counted() as calls:
        again(run, TIMES)
    if not calls.steps:
        raise NotApplicable("the loop's body took no optimizer step when it was run again")
    return Numbers(syncs=calls.syncs / max(calls.steps, calls.forwards), printed=calls.printed / calls.steps)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on five host syncs or more per forward pass."""
    syncs, printed = numbers.syncs, numbers.printed
    text = f"{syncs:.0f} host sync{'s' * (round(syncs) != 1)} per forward pass (usually {Numbers.usual('syncs')}), "
    text += f"{printed:.0f} line{'s' * (round(printed) != 1)} printed per step"
    suspects: tuple[Suspect, ...] = ()
    if frequent_syncs(numbers):
        text += ": each one waits for the device"
        suspects = (Suspect("speed/sync_every_step", 0.7, text),)
    return Verdict("host_syncs", bool(suspects), text, numbers.labeled(), suspects)
