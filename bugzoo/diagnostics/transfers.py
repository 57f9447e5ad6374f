"""How often is the batch copied each step, and do activations move between devices?

Moving a batch to a GPU copies it once; on the CPU nothing is copied. A clone() before it, copy=True, or a second .to() costs
one more pass over the batch. Python waits for copies from ordinary (unpinned) memory. Inputs and targets are two tensors, and
each may be copied once: what counts is how often the same numbers were copied. Within the model no tensor should change its
device. Where a layer is on another device, its inputs and outputs are copied, and so are the gradients on the way back. The
loop's body runs again on its first batch, and its copies are counted.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

import bugzoo
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.running.result import Run

COST = 1
VIEW = "time"
TITLE = "Copies between devices"
KNOWN_PROBLEMS = (
    "A false positive where a copy of the batch is changed on purpose, as in masked language modeling. "
    "It misses copies by a library, copies that also change the dtype, and activations that move between two GPUs."
)
HEALTHY = example()
SICK = example(
    ("logits = model(inputs[rows])", "logits = model(inputs[rows].clone().contiguous().to('cpu', copy=True))")
)
TIMES = 3
_COPIES = {"clone", "to", "cuda", "cpu", "copy_", "contiguous"}
_INSTALLED = (str(Path(torch.__file__).resolve().parents[1]), f"{Path(bugzoo.__file__).resolve().parent}{os.sep}")


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts per forward pass of the loop's body when it runs again."""

    batch_copies: float = number("copies of the batch per forward pass", (0, 1.5))
    inside: float = number("device changes inside a forward pass", (0, 0))


device_changes = Alarm(
    above("inside", 0.5),
    "The copies of a step were counted. {inside:.2g} outputs of layers change device.",
    "None should change it ({usual[inside]}).",
)
repeated_copies = Alarm(
    above("batch_copies", 1.5),
    "The copies of a step were counted. The batch is copied {batch_copies:.2g} times before the model gets it.",
    "At most {limits[batch_copies]:.2g} times passes.",
)
ALARMS = (device_changes, repeated_copies)


@dataclass
class _Counted:
    largest: int
    """Number of elements of the largest tensor in a batch."""
    copied: float = 0.0
    inside: int = 0
    calls: int = 0
    depth: int = 0
    waiting: bool = True
    """The step is over, and the model has not been called since."""
    copies: list[tuple[Any, Any, float]] = field(default_factory=list)
    """(source, result, how often its numbers were copied so far) of each copy of this step, in batches."""

    def copy(self, source: torch.Tensor, result: torch.Tensor) -> None:
        """Count a copy of a batch or of a part of one. It is one more than its source has behind it."""
        share = result.numel() / self.largest
        behind = [times for _, earlier, times in self.copies if _shares(source, earlier)]
        behind += [times for earlier, _, times in self.copies if _same(source, earlier)]  # copied a second time
        self.copies.append((source, result, share + max(behind, default=0.0)))

    def close(self) -> None:
        """End a step: what was copied most often counts."""
        self.copied += max((times for *_, times in self.copies), default=0.0)
        self.copies = []


class _Copies(TorchFunctionMode):
    """Counts copies by the script itself: those inside a library's transforms do not count."""

    def __init__(self, counted: _Counted) -> None:
        super().__init__()
        self.counted = counted

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if getattr(function, "__name__", "") in _COPIES and isinstance(result, torch.Tensor):
            with torch._C.DisableTorchFunction():
                self.note(args[-1] if function.__name__ == "copy_" else args[0], result)
        return result

    def note(self, source: Any, result: torch.Tensor) -> None:
        if not isinstance(source, torch.Tensor) or source is result or source.dtype is not result.dtype:
            return
        counted, moved = self.counted, source.device != result.device
        if not moved and (source.is_meta or source.data_ptr() == result.data_ptr()):
            return
        if counted.depth and moved and "cpu" in (source.device.type, result.device.type):
            counted.inside += result.is_floating_point()
        elif counted.waiting and result.numel() >= counted.largest / 2 and _of_script(sys._getframe(2)):
            counted.copy(source, result)


def _shares(left: torch.Tensor, right: torch.Tensor) -> bool:
    if left.device != right.device or left.is_meta:
        return False
    return left.untyped_storage().data_ptr() == right.untyped_storage().data_ptr()


def _same(left: torch.Tensor, right: torch.Tensor) -> bool:
    return _shares(left, right) and bool(left.storage_offset() == right.storage_offset()) and left.shape == right.shape


def _of_script(frame: FrameType | None) -> bool:
    """Is the call in a file of the script's author?"""
    return frame is not None and not frame.f_code.co_filename.startswith(_INSTALLED)


@contextlib.contextmanager
def _listening(largest: int, main: torch.nn.Module | None) -> Iterator[_Counted]:
    counted = _Counted(largest)

    def enters(module: torch.nn.Module, *_: Any) -> None:
        if next(module.parameters(), None) is not None:  # a data transform may be a module as well
            counted.waiting = False
            # backward() calls a checkpointed block once more
            counted.calls += module is main if main is not None else counted.depth == 0
            counted.depth += 1

    def leaves(module: torch.nn.Module, *_: Any) -> None:
        counted.depth -= next(module.parameters(), None) is not None

    def over(*_: Any) -> None:
        counted.waiting = True
        counted.close()

    handles = [register_module_forward_pre_hook(enters), register_module_forward_hook(leaves, always_call=True)]
    handles.append(register_optimizer_step_post_hook(over))
    try:
        with _Copies(counted):
            yield counted
            counted.close()
    finally:
        for handle in handles:
            handle.remove()


def measure(run: Run) -> Numbers:
    """Copies per call of the model. Raises NotApplicable where the loop's body cannot run again."""
    batch = batches(run)[0]
    leaves = tree_leaves((batch.args, batch.kwargs))
    largest = max((leaf.numel() for leaf in leaves if isinstance(leaf, torch.Tensor)), default=0)
    if not largest:
        raise NotApplicable("the model was called with no tensor")
    with _listening(largest, batch.module) as counted:
        again(run, TIMES, converting=True)
    if not counted.calls:
        raise NotApplicable("the loop's body did not call the model when it ran again")
    return Numbers(batch_copies=counted.copied / counted.calls, inside=counted.inside / counted.calls)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires where the batch is copied twice, or where an activation changes device within the model."""
    text = (
        f"the batch is copied {numbers.batch_copies:.2g} times before the model gets it "
        f"(usually {Numbers.usual('batch_copies')}), "
        f"{numbers.inside:.2g} activations change device (usually {Numbers.usual('inside')})"
    )
    suspects: tuple[Suspect, ...] = ()
    if device_changes(numbers):
        suspects = (Suspect("device/half_on_cpu_half_on_gpu", 0.8, text),)
    elif repeated_copies(numbers):
        suspects = (Suspect("speed/data_copied_twice", 0.7, text),)
    return Verdict("transfers", bool(suspects), text, numbers.labeled(), suspects)
