"""Record a watched step: forward, backward, optimizer, in this order."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from bugzoo.watching import graph as graphs
from bugzoo.watching.byhand import ByHand
from bugzoo.watching.clock import Machine, Waits
from bugzoo.watching.device import Waiting
from bugzoo.watching.forwards import Forwards
from bugzoo.watching.functional import outside, parameters_behind, running, unwrapped, wrapped
from bugzoo.watching.gaps import Gaps
from bugzoo.watching.gradients import OptimizerState
from bugzoo.watching.hand_steps import HandSteps
from bugzoo.watching.history import History
from bugzoo.watching.joint import Joint, Moved, ratio
from bugzoo.watching.live import Batch, Live
from bugzoo.watching.live_graphs import LiveGraphs
from bugzoo.watching.loop import user_frames
from bugzoo.watching.memory import memory_mib
from bugzoo.watching.models import Models
from bugzoo.watching.non_finite import Judge
from bugzoo.watching.records import Event
from bugzoo.watching.scaling import scale_of, unscaled_loss, value_of, without_scale
from bugzoo.watching.schedule import marked, sampled, with_memory, with_update
from bugzoo.watching.state import detached, torch_rng
from bugzoo.watching.step_context import StepContext
from bugzoo.watching.steps import Keeping, Steps
from bugzoo.watching.table import COLUMNS, NAN, Ragged, Table
from bugzoo.watching.trace import Trace

_now = time.perf_counter
_SHORT = 5e-4


class Recorder:
    """Fills a Trace. The hooks in `bugzoo.watching.hooks` call its methods, which must not raise or draw random numbers."""

    def __init__(
        self,
        trace: Trace,
        on_step: Callable[[dict[str, Any]], None] | None,
        graph: bool,
        snapshots: bool,
        draw: Keeping | None = None,
    ) -> None:
        self.trace, self.on_step, self.walk_graph = trace, on_step, graph
        self.live = trace.live = Live()
        self.moment = StepContext(trace.events, self.live.optimizers)
        self.table, self.norms = Table(), Ragged()
        self.parameters, self.loop, self.optimizers = self.moment.parameters, self.moment.loop, self.moment.states
        self.models = Models()
        self.forwards = Forwards(self.moment, self.models, self.training_forward)
        self.history = History(self.moment, self.models) if snapshots else None
        self.steps = self.live.steps = Steps(self.moment, draw) if draw is not None else None
        self.waiting, self.gaps = Waiting(self.table), Gaps(self.table)
        self.device: torch.device | None = None  # of the optimizer's parameters, if that is a CUDA device
        self.judge = Judge(self.moment)
        self.closing = False
        self.alive = LiveGraphs()
        self.backwards = 0
        self.joint, self.in_backward = Joint(), False
        self.hand: HandSteps | None = None  # while no optimizer has stepped
        self.rng: dict[str, Any] | None = None  # at a forward pass within torch.func
        self.step_places: list[tuple[str, int] | None] = []
        self.frozen = self.live.frozen_on_purpose
        self.waits, self.machine = Waits(), Machine()
        self.waited = self.waits.seconds()
        self.published = self.began = self.mark = _now()
        self._reset_step()

    def _reset_step(self) -> None:
        self.losses: list[Any] = []
        self.data_s = self.forward_s = self.backward_s = 0.0
        self.forward_at: float | None = None
        self.scaler: Any = None
        self.scaled: Any = None
        self.unscaled: Any = None
        self.by_hand: ByHand | None = None

    def _took(self, began: float, ended: float) -> float:
        """Return the seconds of a part of the step, without the time that it waited for a processor.

        Below half a millisecond the waiting time is not measured, so that tiny models stay cheap to watch.
        """
        wall = ended - began
        if wall > _SHORT:
            before, self.waited = self.waited, self.waits.seconds()
            wall -= min(self.waited - before, wall)
        return wall

    # -- forward ------------------------------------------------------------------------------------------------------

    def training_forward(self, module: nn.Module, args: tuple[Any, ...]) -> Any:
        """Handle the first root module call with gradients since the last backward or step."""
        if self.in_backward:  # activation checkpointing
            return
        if self.forward_at is None:  # on sampled steps every root module call gets here
            self.joint.open = False
            now = self.forward_at = _now()
            self.data_s += self._took(self.mark, now)
            self.gaps.enter()
            if self.history is not None and running():  # now other tensors are in place of the model's parameters
                self.rng = torch_rng()
            elif self.history is not None:
                self.history.at_forward(args)
            if self.steps is not None:
                if self.hand is not None:
                    self.hand.tell()  # before it is asked whether this step is kept
                with outside():
                    self.steps.at_forward(module, tuple(map(unwrapped, args)))

    # -- backward -----------------------------------------------------------------------------------------------------

    def before_backward(self, root: Any) -> None:
        now = self.backward_at = _now()
        if self.hand is not None:
            self.hand.end()
            self.hand.look_for_leftover()
        self.joint.open, self.in_backward = False, True
        self.parameters.complete()
        if self.rng is not None and self.history is not None:
            self.history.at_forward(rng=self.rng)
            self.rng = None
        if self.by_hand is not None:  # those gradients from autograd.grad were not for this step
            self.backwards -= len(self.losses)
            self.losses, self.by_hand = [], None
        if self.forward_at is not None:
            self.forward_s += self._took(self.forward_at, now)
        for state in self.optimizers.values():
            if not state.fresh:
                state.look_for_leftover()
        if not isinstance(root, torch.Tensor):
            root = root[0] if isinstance(root, list | tuple) and root and isinstance(root[0], torch.Tensor) else None
        if root is not None:
            self._take_loss(root)
        if self.loop.loop is None:
            self.loop.at_backward()
        self.forwards.before_backward(self.moment.sampling)
        self.mark = _now()

    def after_backward(self) -> None:
        now, self.in_backward = _now(), False
        if self.joint.open:  # optimizers have stepped within it: it ends their step, not the next one
            self.table.put(self.joint.row, "backward_ms", (now - self.backward_at) * 1e3)
        else:
            self.backward_s += self._took(self.mark, now)
        self.mark = now
        self.forward_at = None
        self.forwards.arm()
        if self.device is not None:
            self.gaps.leave(self.device)
        if not self.optimizers and self.by_hand is None:
            self._keep_weights()

    def _keep_weights(self) -> None:
        if self.hand is None:
            self.hand = HandSteps(self)
            self.forwards.on_any = self.hand.end
        self.hand.keep()

    def behind(self, inputs: Any) -> list[nn.Parameter | None] | None:
        """Return the parameters that torch.func differentiates for, as `parameters_behind`."""
        return parameters_behind(inputs, self.models.roots.values())

    def before_grad(self, loss: torch.Tensor, parameters: Sequence[nn.Parameter | None]) -> bool:
        """Count a `torch.autograd.grad` for parameters as a backward pass, unless backward() runs in the same step."""
        if self.hand is not None:
            self.hand.end()
        by_hand = self.by_hand
        if self.losses and by_hand is None:
            return False
        self.by_hand = None
        self.before_backward(loss)
        self.by_hand = by_hand or ByHand()
        self.by_hand.before(parameters)
        return True

    def after_grad(self, parameters: Sequence[nn.Parameter | None], gradients: Any) -> None:
        self.after_backward()
        if self.by_hand is not None:
            self.by_hand.after(parameters, gradients)
            if not self.optimizers:
                self._keep_weights()

    def _take_loss(self, root: torch.Tensor) -> None:
        plain = root
        if self.scaled is None:
            value = value_of(unwrapped(root))
        else:
            value, plain = unscaled_loss(root, self.scaled, self.unscaled, self.scaler)
            self.scaled = self.unscaled = None
        self.losses.append(value)
        self.backwards += 1
        mapped = wrapped(root) and unwrapped(root).dim() > 0  # `vmap` hides the samples from graph and batch
        if self.moment.sampling and len(self.losses) == 1 and not mapped:
            self._sample(plain)
        if marked(self.moment.step) and not wrapped(root):
            self.alive.add(root)

    def _sample(self, loss: torch.Tensor) -> None:
        """Record details of the forward pass that are taken only at sampled steps."""
        # on CUDA a walk waits for the device, so it is done only in the first steps
        if self.walk_graph and (self.moment.step <= 10 or not loss.is_cuda):
            graph = graphs.walk(loss)
            if graph is not None:
                previous = self.trace.graph
                rows = previous.rows if previous.step else graph.rows
                self.trace.graph = replace(graph, rows=rows, step=self.moment.step, autocast=self.forwards.autocast)
        call = self.forwards.last_call
        if call is not None:
            module, args, kwargs = call
            value = NAN if isinstance(self.losses[-1], torch.Tensor) else self.losses[-1]
            targets = unwrapped(graphs.targets(loss))
            self.live.add(Batch(self.moment.step, detached(args), detached(kwargs), targets, value, module))

    # -- optimizer ----------------------------------------------------------------------------------------------------

    def _state(self, optimizer: torch.optim.Optimizer) -> OptimizerState:
        state = self.optimizers.get(id(optimizer))
        if state is None:
            self.hand = self.forwards.on_any = None
            state = self.optimizers[id(optimizer)] = OptimizerState(len(self.step_places))
            self.live.optimizers.append(optimizer)
            here = next(user_frames(sys._getframe(2)), None)
            self.step_places.append((here.f_code.co_filename, here.f_lineno) if here else None)
        state.meet(optimizer, self.parameters)
        return state

    def before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any, skipped: bool = False) -> None:
        state = self._state(optimizer)
        self.uses_closure = bool((len(args) > 1 and args[1] is not None) or kwargs.get("closure") is not None)
        self.grad_norm, self.values, self.layout, self.skipped = NAN, None, None, skipped
        state.joins = not self.uses_closure and self.joint.takes(state.index)
        if state.joins:
            self._at(self.joint.step)
        if self.by_hand is not None:
            for entry in self.optimizers.values():
                entry.handed(self.by_hand)
        if not self.uses_closure:
            self._take_gradients(state, optimizer)
        if self.steps is not None:
            self.steps.at_step(optimizer, float(scale_of(self.scaler)))
        state.before = None
        if self.moment.sampling or with_update(self.moment.step):
            state.before = [p.detach().clone() for p in state.params]
        self.step_started = _now()

    def _take_gradients(self, state: OptimizerState, optimizer: Any) -> None:
        """Take the norms of the optimizer's gradients, and check that they and the loss are finite."""
        self.layout, self.values, self.grad_norm = state.take(self.parameters)
        some = len(self.values) > 0
        if some and self.scaler is not None and not self.uses_closure:
            unscaled = without_scale(optimizer, self.values, self.grad_norm)
            if unscaled is not None:
                self.values, self.grad_norm, self.skipped = unscaled
        if self.judge.finite:
            loss, norm = self.mean_loss() if self.losses else 0.0, self.grad_norm if some else 0.0
            if self.judge.now(loss, norm, self.skipped) and self.history is not None:
                self.history.pin() if not state.joins else self.history.end_at(self.moment.step)

    def after_step(self, optimizer: torch.optim.Optimizer) -> dict[str, Any] | None:
        ended, state = _now(), self._state(optimizer)
        if state.joins:
            self._at(self.joint.step)
        row, step = self.joint.row if state.joins else self.table.rows, self.moment.step
        if self.uses_closure:
            self._take_gradients(state, optimizer)
        moved = state.moved() if state.before is not None else None
        if state.joins:
            self._join(row, state, moved, self._took(self.step_started, ended))
            return None
        if self.moment.sampling:
            self.parameters.take_norms(step)
        loss, norm = self.mean_loss(), self.grad_norm
        rate = optimizer.param_groups[0].get("lr", NAN)
        left = state.leftover(norm, len(self.losses), self.values)
        self.joint.begin(row, step, len(self.losses), state.index, norm, left, moved)
        on_device = False
        numbers = [step, loss, norm, 0.0 if self.skipped else ratio(moved), rate, scale_of(self.scaler), left]
        if not (type(loss) is float and type(norm) is float and type(rate) is float):
            on_device = self._put_off(row, numbers)
        timed = self.forward_s > 0
        self.device = state.params[0].device if state.params and state.params[0].is_cuda else None
        self.table.append((
            *numbers, len(self.losses), state.index,
            self.data_s * 1e3 if timed and not self.forwards.evaluated else NAN,
            self.forward_s * 1e3 if timed else NAN, self.backward_s * 1e3, self._took(self.step_started, ended) * 1e3,
            memory_mib(state.params, self.history) if with_memory(step) else NAN,
        ))  # fmt: skip
        if self.device is not None:
            self.gaps.close(row, timed and not self.forwards.evaluated)
            self.gaps.leave(self.device)
        self.close_step(row, step, state)
        if self.history is not None and self.history.nested:
            self.history.after_step()
        if on_device and self.waiting.poll():
            self._judge_late()
        if ended - self.published > 0.2:
            self.publish()
        info = self.told(step, numbers[1], numbers[2]) if self.on_step is not None else None
        self.mark = _now()
        return info

    def told(self, step: int, loss: float, norm: float) -> dict[str, Any]:
        """Return what `on_step` gets."""
        latest = self.forwards.validation.latest()
        return {"step": step, "loss": loss, "grad_norm": norm, "seconds": _now() - self.began, "validation": latest}

    def _join(self, row: int, state: OptimizerState, moved: Moved | None, seconds: float) -> None:
        """Add an optimizer to the row of an earlier one, whose step this is too."""
        step = self.moment.step
        if self.moment.sampling:
            self.parameters.take_again(step, state.params)
        left = state.leftover(self.grad_norm, self.joint.backwards, self.values)
        for column, value in self.joint.add(state.index, self.grad_norm, left, moved).items():
            if isinstance(value, torch.Tensor) and value.is_cuda:
                self.waiting.add(row, column, value)
            else:
                self.table.put(row, column, float(value))
        self.table.put(row, "step_ms", float(self.table.column("step_ms")[row]) + seconds * 1e3)
        self.close_step(row, step, state)
        self.mark = _now()

    def close_step(self, row: int, step: int, state: OptimizerState) -> None:
        """Keep the rest of an optimizer's step, and go on to the next step."""
        if self.layout is not None:
            self.norms.append(row, self.layout, self.values)
        events = self.trace.events[-1:]  # of the optimizer that this one joins
        if self.skipped and not any(event.kind == "skipped_step" and event.step == step for event in events):
            self.trace.events.append(Event(step, "skipped_step", {"optimizer": state.index}))
        state.fresh, state.left, state.before, state.joins = False, None, None, False
        self._next_step()

    def _at(self, step: int) -> None:
        """Go back to a step that a further optimizer joins."""
        self.moment.step, self.moment.sampling = step, sampled(step)

    def _next_step(self) -> None:
        if self.loop.loop is None:
            self.loop.after_step()
        moment = self.moment
        moment.step += 1
        moment.sampling = sampled(moment.step)
        self._reset_step()
        self.forwards.after_step(moment.sampling)

    def _judge_late(self) -> None:
        wrong = self.judge.late(self.table, self.waiting)
        if wrong is not None and self.history is not None:
            self.history.stop(wrong)

    def _put_off(self, row: int, numbers: list[Any]) -> bool:
        """Replace tensors in `numbers`: by their value on the CPU, or by NaN until they arrive from a device."""
        waits = False
        for place, value in enumerate(numbers):
            if isinstance(value, torch.Tensor):
                if value.is_cuda:
                    self.waiting.add(row, COLUMNS[place], value)
                    numbers[place], waits = NAN, True
                else:
                    numbers[place] = value.item()
        return waits

    def mean_loss(self) -> Any:
        if not self.losses:
            return NAN
        return self.losses[0] if len(self.losses) == 1 else sum(self.losses) / len(self.losses)

    # -- publishing ---------------------------------------------------------------------------------------------------

    def publish(self) -> None:
        """Update the trace's arrays with everything recorded so far."""
        self.published = _now()
        trace, table = self.trace, self.table
        for name in COLUMNS:
            setattr(trace, name, table.column(name).copy() if self.closing else table.column(name))
        if self.closing:
            trace.parameters = self.parameters.describe()
            trace.param_grad_norm = self.norms.array(table.rows, len(self.parameters))
            trace.param_norm_step, trace.param_norm, trace.grad_zeros = self.parameters.norms()
            self.forwards.publish(trace)
            self.live.models = self.models.ordered()
            self.live.evaluations = sorted(self.forwards.evaluations.found.values(), key=lambda one: one.step)
            self.live.namespace, self.live.scopes = self.loop.namespace(), self.loop.scopes()

    def close(self) -> None:
        if self.hand is not None:
            self.hand.end()
        self.closing = True
        self.live.ended = time.time()
        self.trace.environment |= {
            "graphs_alive": self.alive.peak, "graphs_marked": self.alive.marked, "backwards": self.backwards,
            "step_places": self.step_places, "idle": self.machine.idle(),
        }  # fmt: skip
        if self.steps is not None:
            self.steps.close()
        self.waits.close()
        self.waiting.finish()
        self.gaps.finish()
        self._judge_late()
        self.publish()
