"""What happens at each moment of a watched step: forward, backward, optimiser, in the order in which it happens."""

import math
import os
import sys
import time
import traceback
from collections.abc import Callable
from itertools import compress
from math import hypot
from typing import Any

import numpy as np
import psutil
import torch
from torch import nn

from bugzoo.watching import graph as graphs
from bugzoo.watching.alive import Alive
from bugzoo.watching.device import Waiting
from bugzoo.watching.forwards import Forwards
from bugzoo.watching.history import History
from bugzoo.watching.live import Batch, Live, detached
from bugzoo.watching.loop import LoopFinder, user_frames
from bugzoo.watching.meant import Meant
from bugzoo.watching.parameters import Parameters
from bugzoo.watching.table import COLUMNS, NAN, Layout, Ragged, Table
from bugzoo.watching.trace import Event, Trace

_now = time.perf_counter
_PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 2**20 if hasattr(os, "sysconf") else 0.0


EVERY_STEP, PERIOD, WINDOW = 40, 100, 30
"""Steps whose graphs are marked: the first ones, then some in a row now and then, so that a sum over an epoch shows."""


def sampled(step: int) -> bool:
    """Steps at which the costlier things are taken: 1, 2, 5, 10, 50, then every 100th."""
    return step % 100 == 0 or step in (1, 2, 5, 10, 50)


class _Optimizer:
    """What the watch remembers of one optimiser between its steps."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.fresh = False  # at some backward since the last step, no older gradient was there
        self.left: Any = None  # norm of the gradient found at the first backward
        self.layouts: dict[Any, Layout] = {}
        self.seen: tuple[int, ...] = ()
        self.params: list[nn.Parameter] = []
        self.before: list[torch.Tensor] | None = None


class Recorder:
    """Fills a Trace. The hooks in `bugzoo.watching.hooks` call its methods; none may raise or draw randomness."""

    def __init__(
        self, trace: Trace, on_step: Callable[[dict[str, Any]], None] | None, graph: bool, snapshots: bool
    ) -> None:
        self.trace, self.on_step, self.walk_graph = trace, on_step, graph
        self.live = trace.live = Live(recorder=self)
        self.table, self.norms = Table(), Ragged()
        self.parameters = Parameters()
        self.loop = LoopFinder()
        self.forwards = Forwards(self)
        self.history = History(self) if snapshots else None
        self.optimizers: dict[int, _Optimizer] = {}
        self.waiting = Waiting(self.table)
        self.step = 1  # the number of the step that is being made now
        self.sampling = True  # is it one of those that are looked at more closely?
        self.finite = True
        self.errors: list[str] = []
        self.closing = False
        self.thread: int | None = None  # the only thread whose training counts; None: any
        self.alive = Alive()
        self.backwards = 0
        self.step_places: list[tuple[str, int] | None] = []
        self.meant = Meant()
        self.published = self.began = self.mark = _now()
        self._reset_step()

    def _reset_step(self) -> None:
        self.losses: list[Any] = []
        self.data_s = self.forward_s = self.backward_s = 0.0
        self.forward_at: float | None = None
        self.scaler: Any = None
        self.scaled: Any = None
        self.unscaled: Any = None

    # -- forward ------------------------------------------------------------------------------------------------------

    def training_forward(self, module: nn.Module, args: tuple[Any, ...]) -> Any:
        """The first root module call, with gradients, since the last backward or step."""
        if self.forward_at is None:  # on sampled steps every root module's call comes by here
            now = self.forward_at = _now()
            self.data_s += now - self.mark
            if self.history is not None:
                self.history.at_forward(args)

    # -- backward -----------------------------------------------------------------------------------------------------

    def before_backward(self, root: Any) -> None:
        now = _now()
        if self.forward_at is not None:
            self.forward_s += now - self.forward_at
        for state in self.optimizers.values():
            if not state.fresh:
                self._look_for_leftover(state)
        if not isinstance(root, torch.Tensor):
            root = root[0] if isinstance(root, list | tuple) and root and isinstance(root[0], torch.Tensor) else None
        if root is not None:
            plain = root
            if self.scaled is None:
                self.losses.append(self._value(root))
            else:
                plain = self._unscale(root)
            if self.sampling and len(self.losses) == 1:
                self._sample(plain)
            self.backwards += 1
            if self.step <= EVERY_STEP or self.step % PERIOD < WINDOW:
                self.alive.add(root)
        if self.loop.loop is None:
            self.loop.at_backward()
        self.forwards.before_backward(self.sampling)
        self.mark = _now()

    def after_backward(self) -> None:
        now = _now()
        self.backward_s += now - self.mark
        self.mark = now
        self.forward_at = None
        self.forwards.arm()

    def _unscale(self, root: torch.Tensor) -> torch.Tensor:
        """Note the loss without the GradScaler's factor, and return it with its graph where it is known."""
        scaled, plain, scaler = self.scaled, self.unscaled, self.scaler
        self.scaled = self.unscaled = None
        if scaled is root:
            self.losses.append(self._value(plain))
            return plain
        value = root.detach().float()
        self.losses.append(self._value(value / scaler._scale.to(value.device)))
        return root

    @staticmethod
    def _value(tensor: torch.Tensor) -> Any:
        """A float for a tensor on the CPU; elsewhere the tensor itself, to be read later without a synchronisation."""
        if tensor.numel() != 1:
            tensor = tensor.detach().float().mean()
        return tensor.detach() if tensor.is_cuda else tensor.item()

    def _look_for_leftover(self, state: _Optimizer) -> None:
        old = [p.grad for p in state.params if p.grad is not None]
        if not old:
            state.fresh = True
            return
        left = _total(gradient_norms(old))
        if isinstance(left, float) and left == 0.0:
            state.fresh = True
        elif state.left is None:
            state.left = left

    def _sample(self, loss: torch.Tensor) -> None:
        """Everything that is looked at on sampled steps only."""
        if self.walk_graph:
            seen = graphs.walk(loss)
            if seen:
                self.trace.graph = {**seen, "step": self.step, "autocast": self.forwards.autocast}
        call = self.forwards.last_call
        if call is not None:
            module, args, kwargs = call
            targets = graphs.targets(loss)
            value = self.losses[-1]
            value = NAN if isinstance(value, torch.Tensor) else value
            self.live.add(Batch(self.step, detached(args), detached(kwargs), targets, value, module))

    # -- optimiser ----------------------------------------------------------------------------------------------------

    def _state(self, optimizer: torch.optim.Optimizer) -> _Optimizer:
        state = self.optimizers.get(id(optimizer))
        if state is None:
            state = self.optimizers[id(optimizer)] = _Optimizer(len(self.optimizers))
            self.live.optimizers.append(optimizer)
            here = next(user_frames(sys._getframe(2)), None)
            self.step_places.append((here.f_code.co_filename, here.f_lineno) if here else None)
        sizes = tuple(len(group["params"]) for group in optimizer.param_groups)
        if sizes != state.seen:
            state.seen, state.layouts = sizes, {}
            state.params = [p for group in optimizer.param_groups for p in group["params"]]
            self.parameters.add_optimizer(optimizer, state.index)
        return state

    def before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any, skipped: bool = False) -> None:
        state = self._state(optimizer)
        self.uses_closure = bool((len(args) > 1 and args[1] is not None) or kwargs.get("closure") is not None)
        self.grad_norm, self.values, self.layout, self.skipped, self.has_gradient = NAN, None, None, skipped, False
        if not self.uses_closure:
            self._take_gradients(state)
            if self.scaler is not None:
                self._undo_scale(optimizer)
            if self.finite:
                self._judge()
        state.before = None
        if self.sampling or self.step % 50 == 0:
            state.before = [p.detach().clone() for p in state.params]
        self.step_started = _now()

    def _undo_scale(self, optimizer: Any) -> None:
        """A fused optimiser gets scaled gradients from the GradScaler, and decides itself whether to skip."""
        factor = getattr(optimizer, "grad_scale", None)
        if isinstance(factor, torch.Tensor) and self.has_gradient:
            if isinstance(self.grad_norm, float):
                factor = factor.item()
                self.values = [value / factor for value in self.values]
            else:
                self.values = self.values / factor.to(self.values.device)
            self.grad_norm = self.grad_norm / factor
            found = optimizer.found_inf
            self.skipped = bool(found.item()) if found.device.type == "cpu" else False

    def _judge(self) -> None:
        """Note the first step whose loss or gradient is not finite; what made it so is looked for afterwards.

        The gradients of a step that a GradScaler skips may be infinite: that is how it works.
        """
        loss = self._mean_loss() if self.losses else 0.0
        norm = self.grad_norm if self.has_gradient and not self.skipped else 0.0
        if isinstance(loss, torch.Tensor) or isinstance(norm, torch.Tensor):
            return
        if not (math.isfinite(loss) and math.isfinite(norm)):
            self._non_finite(self.step, "gradient" if math.isfinite(loss) else "loss")
            if self.history is not None:
                self.history.pin()

    def _non_finite(self, step: int, direction: str) -> None:
        self.finite = False
        data = {"module": None, "op": None, "direction": direction, "file": None, "line": None}
        self.trace.events.append(Event(step, "non_finite", data))

    def _take_gradients(self, state: _Optimizer) -> None:
        grads = [p.grad for p in state.params]
        present = tuple([g is not None for g in grads])
        layout = state.layouts.get(present)
        if layout is None:
            columns = list(compress(self.parameters.columns(state.params), present))
            layout = state.layouts[present] = Layout(columns)
        if len(layout.columns) < len(grads):
            grads = list(compress(grads, present))
        self.layout, self.values, self.grad_norm = layout, [], 0.0 if grads else NAN
        self.has_gradient = bool(grads)
        if grads:
            self.values = gradient_norms(grads)
            self.grad_norm = _total(self.values)

    def after_step(self, optimizer: torch.optim.Optimizer) -> dict[str, Any] | None:
        ended, step = _now(), self.step
        state = self._state(optimizer)
        row = self.table.rows
        if self.uses_closure:
            self._take_gradients(state)
            if self.finite:
                self._judge()
        ratio = 0.0 if self.skipped else NAN
        if state.before is not None and not self.skipped:
            ratio = self._update_ratio(state)
        if self.sampling:
            self.parameters.take_norms(step)
        loss, norm = self._mean_loss(), self.grad_norm
        rate = optimizer.param_groups[0].get("lr", NAN)
        on_device = False
        numbers = [step, loss, norm, ratio, rate, self._scale(), self._leftover(state)]
        if not (type(loss) is float and type(norm) is float and type(rate) is float):
            on_device = self._put_off(row, numbers)
        timed = self.forward_s > 0
        self.table.append((
            *numbers, len(self.losses), state.index,
            self.data_s * 1e3 if timed and not self.forwards.evaluated else NAN,
            self.forward_s * 1e3 if timed else NAN, self.backward_s * 1e3, (ended - self.step_started) * 1e3,
            self._memory_mib(state.params) if step % 25 == 1 or step < 10 else NAN,
        ))  # fmt: skip
        if self.layout is not None:
            self.norms.append(row, self.layout, self.values)
        if self.skipped:
            self.trace.events.append(Event(step, "skipped_step", {"optimizer": state.index}))
        state.fresh, state.left, state.before = False, None, None
        if self.loop.loop is None:
            self.loop.after_step()
        self.step = step + 1
        self.sampling = sampled(step + 1)
        self._reset_step()
        self.forwards.after_step(self.sampling)
        if on_device and self.waiting.poll():
            self._judge_late()
        if ended - self.published > 0.2:
            self.publish()
        info = {"step": step, "loss": numbers[1], "grad_norm": numbers[2], "seconds": ended - self.began}
        self.mark = _now()
        return info

    def _put_off(self, row: int, numbers: list[Any]) -> bool:
        """Replace tensors in `numbers`: by their value on the CPU, by NaN until they arrive from a device."""
        waits = False
        for place, value in enumerate(numbers):
            if isinstance(value, torch.Tensor):
                if value.is_cuda:
                    self.waiting.add(row, COLUMNS[place], value)
                    numbers[place], waits = NAN, True
                else:
                    numbers[place] = value.item()
        return waits

    def _judge_late(self) -> None:
        """The same judgement where numbers arrive late: on CUDA."""
        if not self.finite:
            return
        skipped = {event.step for event in self.trace.events if event.kind == "skipped_step"}
        loss, norm, backwards = (self.table.column(name) for name in ("loss", "grad_norm", "backwards"))
        # NaN also stands for "not here yet", so only complete rows are judged.
        known = self.waiting.landed
        bad_loss = ~np.isfinite(loss[:known]) & (backwards[:known] > 0)
        bad_norm = ~np.isfinite(norm[:known]) & (backwards[:known] > 0)
        for row in np.flatnonzero(bad_loss | bad_norm).tolist():
            if bad_loss[row] or row + 1 not in skipped:
                self._non_finite(row + 1, "loss" if bad_loss[row] else "gradient")
                if self.history is not None:
                    self.history.stop(row + 1)
                return

    def _mean_loss(self) -> Any:
        if not self.losses:
            return NAN
        return self.losses[0] if len(self.losses) == 1 else sum(self.losses) / len(self.losses)

    def _leftover(self, state: _Optimizer) -> Any:
        if state.fresh:
            return 0.0
        if not self.losses:  # a step without a backward of its own: all of it is old
            return 1.0 if self.table.rows and self.has_gradient else NAN
        if state.left is None:
            return 0.0
        norm = self.grad_norm
        if isinstance(norm, float) and not norm > 0:
            return NAN
        return state.left / norm

    def _scale(self) -> Any:
        scaler = self.scaler
        if scaler is None or scaler._scale is None:
            return NAN
        return scaler._scale.item() if scaler._scale.device.type == "cpu" else scaler._scale.clone()

    def _memory_mib(self, params: list[nn.Parameter]) -> float:
        """Less the batches that the watch holds back for replays."""
        held = self.history.held_mib() if self.history is not None else 0.0
        device = params[0].device if params else None
        if device is not None and device.type == "cuda":
            return torch.cuda.memory_allocated(device) / 2**20 - held
        return _resident_mib() - held

    @torch.no_grad()
    def _update_ratio(self, state: _Optimizer) -> Any:
        change = torch._foreach_sub([p.detach() for p in state.params], state.before)
        size, moved = _total(gradient_norms(state.before)), _total(gradient_norms(change))
        if isinstance(size, float):
            return moved / size if size else NAN
        return moved / size

    # -- reading what waits on a device, and publishing ---------------------------------------------------------------

    def publish(self) -> None:
        """Make the trace's arrays show what is known so far."""
        self.published = _now()
        trace, table = self.trace, self.table
        for name in COLUMNS:
            setattr(trace, name, table.column(name).copy() if self.closing else table.column(name))
        if self.closing:
            trace.parameters = self.parameters.describe()
            trace.param_grad_norm = self.norms.array(table.rows, len(self.parameters))
            trace.param_norm_step, trace.param_norm, trace.grad_zeros = self.parameters.norms()
            self.forwards.publish(trace)
            self.live.models = self.forwards.models()
            self.live.namespace = self.loop.namespace()

    def note(self, error: Exception) -> None:
        """A mistake of the watch itself: kept, and never passed on to the watched code."""
        if len(self.errors) < 20:
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.errors.append(f"{where.name}, line {where.lineno}: {type(error).__name__}: {error}")

    def close(self) -> None:
        self.closing = True
        self.trace.environment |= {
            "graphs_alive": self.alive.peak, "graphs_marked": self.alive.marked, "backwards": self.backwards,
            "step_places": self.step_places,
        }  # fmt: skip
        self.waiting.finish()
        self._judge_late()
        self.publish()


def gradient_norms(tensors: list[torch.Tensor]) -> Any:
    """L2 norms: a list of floats for tensors on the CPU, else a 1-D tensor on the first tensor's device.

    In float32 where a half type would overflow.
    """
    first = tensors[0]
    if first.requires_grad:  # create_graph=True: without this the norms would join the graph
        tensors = [t.detach() for t in tensors]
    norms = None
    if first.dtype is torch.float32:
        try:
            norms = torch._foreach_norm(tensors)
        except (RuntimeError, NotImplementedError):  # sparse gradients
            pass
    if norms is None:
        norms = [(t.coalesce()._values() if t.is_sparse else t).detach().float().norm() for t in tensors]
    if first.is_cuda:
        return torch.stack([n.to(first.device) for n in norms])
    return [n.item() for n in norms]


def _total(norms: Any) -> Any:
    """The norm of all of it: a float, or a tensor where the parts are still on a device."""
    return norms.norm() if isinstance(norms, torch.Tensor) else hypot(*norms)


def _resident_mib() -> float:
    """The process's resident memory; on Linux read from /proc, in a fraction of psutil's time."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            return int(os.read(file, 64).split()[1]) * _PAGE_MIB
        finally:
            os.close(file)
    except OSError:
        return psutil.Process().memory_info().rss / 2**20
