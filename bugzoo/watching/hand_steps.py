"""Steps without an optimizer of torch: the script changes the weights itself, as in `p -= rate * p.grad`.

They are looked for only while no optimizer has stepped. Else a change of the weights has other reasons, such as clipping
them or a moving average.
"""

from threading import get_ident
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from bugzoo.watching.functional import outside
from bugzoo.watching.gradients import OptimizerState, gradient_norms, total
from bugzoo.watching.joint import Moved, ratio
from bugzoo.watching.memory import memory_mib
from bugzoo.watching.schedule import with_memory
from bugzoo.watching.table import NAN, Layout

if TYPE_CHECKING:
    from bugzoo.watching.recorder import Recorder

_ALONG = 0.3
"""Least cosine between the first change and the gradient. Weights that are drawn or loaded anew have little."""


class HandSteps:
    """Compares the weights after a backward pass with those at the next module call. A change is a step: a row."""

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder, self.state = recorder, OptimizerState(len(recorder.step_places))
        self.told: dict[str, Any] | None = None
        """The latest step, for `on_step`."""
        self._weights = _Weights(self.state)
        self._layout, self._values, self._norm = Layout([]), [], NAN
        self._given: dict[nn.Parameter, torch.Tensor] = {}

    def look_for_leftover(self) -> None:
        """Check, before a backward pass, whether an older gradient is still in `.grad`."""
        if self.state.params and not self.state.fresh:
            self.state.look_for_leftover()

    def tell(self) -> None:
        """Report the latest step. `on_step` may raise StopRun."""
        if self.told is not None and self.recorder.on_step is not None:
            info, self.told = self.told, None
            self.recorder.on_step(info)

    def forget(self) -> None:
        """The weights change for another reason, such as `load_state_dict`."""
        self._weights.before = []

    def keep(self) -> None:
        """Keep the weights and the gradient norms after a backward pass."""
        recorder = self.recorder
        gradients = recorder.by_hand.given if recorder.by_hand is not None else None
        some = self._weights.keep(recorder.parameters.held, gradients)
        self._layout, self._values, self._given = Layout(recorder.parameters.columns(list(some))), [], some
        if some:
            self._values = gradient_norms(list(some.values()))
            self._norm = total(self._values)

    def end(self) -> None:
        """Record a step if the script has changed the weights since the last backward pass."""
        recorder, thread = self.recorder, self.recorder.moment.thread
        if not recorder.losses or recorder.in_backward or (thread is not None and thread != get_ident()):
            return
        try:
            with outside():
                if (moved := self._weights.moved()) is not None:
                    self._record(moved)
        except Exception as error:
            recorder.moment.note(error)

    def _record(self, moved: Moved) -> None:
        recorder, state = self.recorder, self.state
        step, row, backwards = recorder.moment.step, recorder.table.rows, len(recorder.losses)
        if row == 0:
            recorder.step_places.append(None)
        state.fresh = state.fresh or recorder.by_hand is not None
        recorder.layout, recorder.values, recorder.skipped = self._layout, self._values, False
        if recorder.moment.sampling:
            recorder.parameters.take_norms(step)
        left = state.leftover(self._norm, backwards, self._values)
        numbers = [recorder.mean_loss(), self._norm, ratio(moved), NAN, NAN, left]
        loss, norm, *rest = [value.item() if isinstance(value, torch.Tensor) else value for value in numbers]
        times = recorder.data_s * 1e3, recorder.forward_s * 1e3, recorder.backward_s * 1e3, 0.0
        memory = memory_mib(state.params, recorder.history) if with_memory(step) else NAN
        recorder.table.append((step, loss, norm, *rest, backwards, state.index, *times, memory))
        bad = recorder.judge.finite and recorder.judge.now(loss, norm if len(self._values) else 0.0, False)
        if bad and recorder.history is not None:
            recorder.history.end_at(step)
        if recorder.steps is not None:
            recorder.steps.by_hand(self._given)
        recorder.close_step(row, step, state)
        if recorder.on_step is not None:
            self.told = recorder.told(step, loss, norm)


class _Weights:
    def __init__(self, state: OptimizerState) -> None:
        self.state = state
        self.before: list[torch.Tensor] = []
        self._first: dict[int, torch.Tensor] | None = {}  # gradients of the first step

    @torch.no_grad()
    def keep(self, held: list[nn.Parameter], given: dict[int, torch.Tensor] | None) -> dict[nn.Parameter, torch.Tensor]:
        """Copy the weights at the first backward pass of a step. Returns the gradients, `given` or those in `.grad`."""
        if not self.before:
            self.state.params = [p for p in held if p.requires_grad]
            self.before = [p.detach().clone() for p in self.state.params]
        pairs = [(p, p.grad if given is None else given.get(id(p))) for p in self.state.params]
        some = {p: gradient for p, gradient in pairs if gradient is not None}
        if self._first is not None:
            self._first = {id(p): gradient.detach().clone() for p, gradient in some.items()}
        return some

    @torch.no_grad()
    def moved(self) -> Moved | None:
        """Return the size of the change since then and of the weights before it; None if this is no step."""
        params, before = self.state.params, self.before
        if not before or all(map(torch.equal, params, before)):
            return None
        change = [p.detach() - old for p, old in zip(params, before, strict=True)]
        size = total(gradient_norms(change)), total(gradient_norms(before))
        first, self.before = self._first, []
        if first is not None:
            pairs = [(delta, first[id(p)]) for p, delta in zip(params, change, strict=True) if id(p) in first]
            along = abs(sum(float((delta * gradient).sum()) for delta, gradient in pairs))
            if not (first and along > _ALONG * float(size[0]) * float(total(gradient_norms(list(first.values()))))):
                return None
        self._first = None
        return size
