"""Record module calls: which root module ran, in train or eval mode, with or without gradients, and output statistics."""

import math
import sys
import weakref
from collections import Counter
from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules import module as torch_module
from torch.utils.hooks import RemovableHandle

from bugzoo.watching.evaluations import Evaluations
from bugzoo.watching.functional import outside, unwrapped
from bugzoo.watching.models import Models
from bugzoo.watching.records import STATISTICS, Event, Forward
from bugzoo.watching.step_context import StepContext
from bugzoo.watching.trace import Trace
from bugzoo.watching.validation import Heard

_traced = torch.compiler.is_dynamo_compiling
_pre_hooks = torch_module._global_forward_pre_hooks
_hooks = torch_module._global_forward_hooks

Circumstance = tuple[int, bool, bool, bool, bool]
"""Of one forward pass: id of the root module, grad, training, in the training loop, after the optimizer's step."""


class Forwards:
    """A global forward-pre hook. It is removed after the first root module call of each training step."""

    def __init__(
        self, moment: StepContext, models: Models, on_training: Callable[[nn.Module, tuple[Any, ...]], Any]
    ) -> None:
        self.moment, self.models = moment, models
        self.on_training = on_training
        """Called at a step's first forward with gradients. In a replay it returns the original arguments."""
        self.on_any: Callable[[], None] | None = None
        """Called before any module call while steps without an optimizer are looked for: it may end one."""
        self.evaluations, self.validation = Evaluations(moment), Heard(moment)
        self._pre_id = RemovableHandle(_pre_hooks).id
        self._post_id = RemovableHandle(_hooks).id
        self._ignored: dict[int, weakref.ref[nn.Module]] = {}
        self._counts: Counter[Circumstance] = Counter()
        self._astray: Counter[Circumstance] = Counter()  # of those with gradients: not followed by a backward
        self._open: list[Circumstance] = []  # those since the last backward
        self._modes: dict[tuple[int, bool], bool] = {}
        self._stats: list[tuple[int, dict[int, Any]]] = []
        self._sampling: dict[int, Any] | None = None
        self._candidate: int | None = None
        self._usual: nn.Module | None = None  # the latest root module called with gradients, its mode and its count
        self._usual_mode: bool | None = None
        self._usual_key: list[Circumstance] = []
        self.last_call: tuple[nn.Module, tuple[Any, ...], dict[str, Any]] | None = None
        self.evaluated = False
        self.autocast: str | None = None

    def arm(self) -> None:
        self.validation.closed = False
        _pre_hooks[self._pre_id] = self._before

    def disarm(self) -> None:
        _pre_hooks.pop(self._pre_id, None)
        _hooks.pop(self._post_id, None)
        self._sampling = None
        self.validation.closed = True

    def _before(self, module: nn.Module, args: tuple[Any, ...]) -> Any:
        """Return None, or in a replay the original arguments of the forward pass."""
        if _traced():  # torch.compile traces the hooks too: give it nothing to do here
            return None
        if module.__class__.__name__ == "OptimizedModule":  # a model after torch.compile
            module = module._orig_mod  # pyright: ignore[reportAssignmentType]
        moment = self.moment
        if self.on_any is not None:
            self.on_any()
        if (
            module is self._usual
            and module.training is self._usual_mode
            and not moment.sampling
            and moment.thread is None
            and torch.is_grad_enabled()
        ):  # the same call as one step ago: nothing new to record
            if self._open:  # no backward followed those
                self._astray.update(self._open)
            self._open = self._usual_key
            _pre_hooks.pop(self._pre_id, None)
            try:
                return self.on_training(module, args)
            except Exception as error:
                moment.note(error)
                return None
        key = id(module)
        if key in self.models.children or (moment.thread is not None and moment.thread != get_ident()):
            return None
        if key not in self.models.roots and not self._is_model(module):
            return None
        try:
            return self._root_called(module, args)
        except Exception as error:
            moment.note(error)
            return None

    def _is_model(self, module: nn.Module) -> bool:
        """Return whether the module has parameters. Transforms and losses are modules too, but are not trained."""
        reference = self._ignored.get(id(module))
        if reference is not None and reference() is module:
            return False
        if next(module.parameters(), None) is not None:
            return True
        self._ignored[id(module)] = weakref.ref(module)
        return False

    def _root_called(self, module: nn.Module, args: tuple[Any, ...]) -> Any:
        moment, roots = self.moment, self.models.roots
        if id(module) not in roots:
            self.models.add(module)
            moment.parameters.add_model(module, "" if len(roots) == 1 else f"{type(module).__name__}.")
        grad = torch.is_grad_enabled()
        if not grad and module.training and _recalibrates(module):
            return None
        key = (id(module), grad)
        if self._modes.get(key) is not module.training:
            if key in self._modes:
                moment.events.append(Event(moment.step, "mode", {
                    "module": type(module).__name__, "training": module.training, "grad": grad}))  # fmt: skip
            self._modes[key] = module.training
        frame = None if grad else moment.loop.current()
        inside = grad or frame is not None
        after = frame is not None and frame.f_lineno > moment.loop.step_line > 0
        full = (id(module), grad, module.training, inside, after)
        if not grad:
            self._counts[full] += 1
            self.evaluated = True
            self.evaluations.called(module, args)
            return None
        self._open = [*self._open, full]
        self._candidate = key[0]
        if moment.sampling:
            # Global pre-hooks get no keyword arguments, but the frame of torch's module call has them.
            self.last_call = (module, args, self._keywords())
            self.autocast = autocast_type()  # asked here, because backward() is called outside the autocast block
        if self._sampling is None:
            _pre_hooks.pop(self._pre_id, None)
        self._usual, self._usual_mode, self._usual_key = module, module.training, [full]
        return self.on_training(module, args)

    @staticmethod
    def _keywords() -> dict[str, Any]:
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_name != "inner":
            frame = frame.f_back
        return dict(frame.f_locals.get("kwargs") or {}) if frame is not None else {}

    def before_backward(self, sampling: bool) -> None:
        """Record that backward() follows, so the forward before it was a training forward.

        After a step's first forward, the hook is removed until here. If the module's mode has changed since, that
        forward was an evaluation without no_grad(), and the training forward came later.
        """
        for full in self._open:
            root, _, training, inside, after = full
            now = self.models.roots[root].training
            if now is not training:
                self._astray[full] += 1
                full = (root, True, now, inside, after)
                if full in self._open:
                    continue
            self._counts[full] += 1
        self._open = []
        if sampling and self._candidate is not None:
            trained = self.models.trained
            trained[self._candidate] = trained.get(self._candidate, 0) + 1
        self._candidate = None
        if self._sampling is not None:
            self._stats.append((self.moment.step, self._sampling))
            self._sampling = None
            _hooks.pop(self._post_id, None)

    def after_step(self, sampling: bool) -> None:
        self.evaluated = False
        _pre_hooks[self._pre_id] = self._before
        if sampling:
            self.sample()

    def sample(self) -> None:
        """Take statistics of every module's output until the next backward."""
        self._sampling = {}
        _hooks[self._post_id] = self._after

    def _after(self, module: nn.Module, args: Any, output: Any) -> None:
        if _traced():
            return
        column = self.models.places.get(id(module))
        if column is None or self._sampling is None or not torch.is_grad_enabled():
            return
        if self.moment.thread is not None and self.moment.thread != get_ident():
            return
        try:
            while isinstance(output, list | tuple) and output:
                output = output[0]
            if isinstance(output, torch.Tensor) and output.is_floating_point() and output.numel():
                with outside():
                    self._sampling[column] = statistics(unwrapped(output))
        except Exception as error:
            self.moment.note(error)

    def publish(self, trace: Trace) -> None:
        try:
            trace.validation = self.validation.curves()
        except Exception as error:
            self.moment.note(error)
        trace.modules = [name for name, _ in self.models.named]
        trace.module_step = np.asarray([float(step) for step, _ in self._stats])
        stats = np.full((len(self._stats), len(trace.modules), len(STATISTICS)), np.nan)
        for row, (_, columns) in enumerate(self._stats):
            for column, values in columns.items():
                stats[row, column] = values.tolist() if isinstance(values, torch.Tensor) else values
        trace.module_stats = stats
        learns = {root for root, grad, *_ in self._counts if grad}
        astray = self._astray + Counter(self._open)
        trace.forwards = [
            Forward(
                type(self.models.roots[root]).__name__, grad, training, inside, after, backward, count, root in learns
            )
            for counts, backward in ((self._counts, True), (astray, False))
            for (root, grad, training, inside, after), count in counts.items()
        ]


def _recalibrates(module: nn.Module) -> bool:
    """Return whether batch norm's running statistics are being recomputed, as `swa_utils.update_bn` does.

    A momentum of None (a plain average over all batches) shows it.
    """
    return any(isinstance(m, nn.modules.batchnorm._BatchNorm) and m.momentum is None for m in module.modules())


def autocast_type() -> str | None:
    """Return `float16` or `bfloat16` if autocast is on, None if it is off."""
    for device in ("cuda", "cpu"):
        if torch.is_autocast_enabled(device):
            return str(torch.get_autocast_dtype(device)).removeprefix("torch.")
    return None


@torch.no_grad()
def statistics(output: torch.Tensor) -> torch.Tensor | list[float]:
    """Return (5,) mean, std, share of zeros, of saturated values and of non-finite values.

    Saturated: within 0.03 of a bound, for an output within [-1, 1] or [0, 1]. It is 0 for an unbounded output.
    """
    values = output.detach().float()
    count = values.numel()
    std, mean = torch.std_mean(values, correction=0)
    low, high = values.aminmax()
    filled = torch.count_nonzero(values)
    if not values.is_cuda:  # .item() is cheap on the CPU, and most outputs need only their extremes
        least, most = low.item(), high.item()
        saturated = _edge(values, low).item() / count if least >= -1 and most <= 1 else 0.0
        bad = 0.0 if math.isfinite(least + most) else 1 - torch.isfinite(values).sum().item() / count
        return [mean.item(), std.item(), 1 - filled.item() / count, saturated, bad]
    saturated = _edge(values, low) * ((low >= -1) & (high <= 1)) / count
    return torch.stack([mean, std, 1 - filled / count, saturated, 1 - torch.isfinite(values).sum() / count])


def _edge(values: torch.Tensor, low: torch.Tensor) -> torch.Tensor:
    return ((values.abs() > 0.97) | ((values < 0.03) & (low >= 0) & (values > 0))).sum()
