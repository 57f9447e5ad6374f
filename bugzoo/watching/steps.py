"""Keep single training steps whole, so that another program can make the same step from the same state.

A kept step holds the weights, buffers and optimizer state before it, its batch, its gradients, and the weights after it.
Which steps are kept is asked only after each of them: code that behaves well on some steps cannot know which.
"""

import copy
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from bugzoo.watching.loop import user_frames
from bugzoo.watching.step_context import StepContext

BATCH = 2**20
"""Most numbers of one tensor of a batch."""
NAMES = 12
"""Most local tensors that are kept beside a batch: one of them holds its targets."""
MOST = 200
"""Most steps that are read from one run."""
FRAMES = 3
"""How many of the script's frames are searched for them, from the model's call outwards."""
KINDS = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
)  # fmt: skip
_DTYPES = {str(kind): kind for kind in KINDS}
Tensors = dict[str, Tensor]


@dataclass
class Call:
    """One forward pass with gradients: the model's inputs, and the tensors with as many rows in the calling frames."""

    inputs: list[Tensor]
    beside: list[Tensor]
    rng: Tensor
    training: bool
    evaluating: list[str] = field(default_factory=list)
    """Modules in eval mode, where the model itself is in train mode."""


@dataclass
class Step:
    """One step. Names are the model's; `slots` has one entry for each parameter and key, as `weight/exp_avg`."""

    number: int
    parameters: Tensors
    buffers: Tensors
    slots: Tensors
    calls: list[Call] = field(default_factory=list)
    gradients: Tensors = field(default_factory=dict)
    after: Tensors = field(default_factory=dict)
    """Parameters and buffers when the next step begins; without those that were replaced by others."""
    answers: Tensor | None = None
    """The model's output in eval mode, with the state after the step, on the inputs of its last call."""
    model: nn.Module | None = None
    """A copy of the model after the step. It is called when the script has ended, so that the training notices nothing."""

    def renamed(self, names: dict[str, str]) -> "Step":
        """Return the same step with other names: old -> new; a slot's key keeps what follows the name."""

        def with_names(values: Tensors) -> Tensors:
            parts = ((name.partition("/"), value) for name, value in values.items())
            return {names.get(name, name) + cut + rest: value for (name, cut, rest), value in parts}

        kinds = ("parameters", "buffers", "slots", "gradients", "after")
        return replace(self, **{kind: with_names(getattr(self, kind)) for kind in kinds})


class Steps:
    """Called by the recorder at each forward pass with gradients, each optimizer step and at the end.

    `wanted` is called once after each step, in order, and says whether that step is kept. `settings` lists what the
    optimizers did, [step, optimizer, class, [[names, settings], ...], scale of the loss], at the first step and after each
    change.
    """

    def __init__(self, moment: StepContext, wanted: Callable[[], bool], model: str = "model") -> None:
        self.moment, self.wanted, self.model = moment, wanted, model
        self.kept: list[Step] = []
        self.lost: list[int] = []
        """Wanted steps whose forward pass was not seen, as `model.forward(inputs)` calls no hook."""
        self.settings: list[list[Any]] = []
        self._latest: dict[int, Any] = {}
        self._asked = 0
        self._open: Step | None = None
        self._names: dict[int, str] = {}
        self._objects: dict[str, nn.Parameter] = {}
        self._space: dict[str, Any] = {}

    def at_forward(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Begin a step at its first forward pass; the one before it ends here."""
        frames = [frame for frame, _ in zip(user_frames(sys._getframe(1)), range(FRAMES), strict=False)]
        if self._open is None or self._open.number != self.moment.step:
            self._space = next((f.f_globals for f in frames if self.model in f.f_globals), self._space)
            model = self._space.get(self.model)
            model = model if isinstance(model, nn.Module) else module
            self._meet(model)
            now = self._state(model)
            self._finish(model, now)
            self._open = Step(self.moment.step, *now, self._slots())
        inputs = [_copy(leaf) for leaf in tree_leaves(args) if isinstance(leaf, Tensor) and leaf.numel() <= BATCH]
        rows = inputs[0].shape[0] if inputs and inputs[0].ndim else -1
        beside: dict[int, Tensor] = {}
        for frame in frames:
            for value in frame.f_locals.values():
                if isinstance(value, Tensor) and value.ndim and value.shape[0] == rows and len(beside) < NAMES:
                    if not value.requires_grad and value.numel() <= BATCH and not any(value is one for one in args):
                        beside[id(value)] = value
        self._open.calls.append(
            Call(
                inputs,
                [_copy(one) for one in beside.values()],
                torch.get_rng_state(),
                module.training,
                _evaluating(module),
            )
        )

    def at_step(self, optimizer: torch.optim.Optimizer, scale: float) -> None:
        """Take the gradients with which an optimizer steps, and its settings where they have changed."""
        groups = []
        if not self._objects and isinstance(model := self._space.get(self.model), nn.Module):
            self._meet(model)  # in its first forward pass other tensors stood in their place
        for group in optimizer.param_groups:
            known = [(self._names[id(p)], p) for p in group["params"] if id(p) in self._names]
            if self._open is not None:
                for name, p in known:
                    if p.grad is not None:
                        self._open.gradients[name] = _copy(p.grad)
            numbers = {key: value for key, value in group.items() if isinstance(value, int | float | tuple | None)}
            groups.append([[name for name, p in known if p.requires_grad], numbers])
        scale = scale if scale == scale else 1.0  # NaN: no scaler
        if self._latest.get(id(optimizer)) != (groups, scale):
            self._latest[id(optimizer)] = (groups, scale)
            place = list(self._latest).index(id(optimizer))
            self.settings.append([self.moment.step, place, type(optimizer).__name__, groups, scale])

    def by_hand(self, gradients: dict[nn.Parameter, Tensor]) -> None:
        """Take the gradients with which the script itself has changed the weights."""
        if self._open is not None:
            known = {self._names[id(p)]: value for p, value in gradients.items() if id(p) in self._names}
            self._open.gradients |= {name: _copy(value) for name, value in known.items()}

    def close(self) -> None:
        """The last step has no next one at which it could end: it is not kept."""
        last = self.moment.step - 2
        if self._wanted_at(last):
            self.lost.append(last)
        self._open = None
        self._space = {}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the kept steps as a few plain arrays, as `read` reads them."""
        about: dict[str, Any] = {"settings": self.settings, "lost": self.lost, "steps": []}
        found = {}
        for step in self.kept:
            parts: list[tuple[Any, Tensor]] = []
            for kind in ("parameters", "buffers", "slots", "gradients", "after"):
                parts += [([kind, name], value) for name, value in getattr(step, kind).items()]
            for place, call in enumerate(step.calls):
                for kind in ("inputs", "beside"):
                    parts += [([kind, place], value) for value in getattr(call, kind)]
            answers = _answers(step.model, step.calls[-1].inputs)
            parts += [(["answers", ""], answers)] if answers is not None else []
            about["steps"].append({
                "number": step.number, "modes": [[call.training, call.evaluating] for call in step.calls],
                "parts": [[*which, list(value.shape), str(value.dtype)] for which, value in parts],
            })  # fmt: skip
            found[f"steps.{step.number}"] = np.concatenate(
                [value.detach().float().cpu().numpy().reshape(-1) for _, value in parts]
            )
            found[f"steps.{step.number}.rng"] = np.stack([call.rng.numpy() for call in step.calls])
        found["steps"] = np.frombuffer(json.dumps(about, default=str).encode(), dtype=np.uint8)
        return found

    # ---- internal

    def _meet(self, model: nn.Module) -> None:
        """Record the model's parameters. Within torch.func other tensors stand in their place: then the known ones stay."""
        found = dict(model.named_parameters())
        if not all(type(p) is nn.Parameter for p in found.values()):
            if self._objects:
                return
            known = self.moment.parameters  # which are added as soon as they are back in their place
            found = {name: p for p in known.held if (name := known.name(p))}
        self._objects = found
        self._names = {id(p): name for name, p in found.items()}

    @torch.no_grad()
    def _state(self, model: nn.Module) -> tuple[Tensors, Tensors]:
        parameters = {name: p.detach().clone() for name, p in self._objects.items()}
        return parameters, {name: buffer.detach().clone() for name, buffer in model.named_buffers()}

    def _slots(self) -> Tensors:
        found: Tensors = {}
        for optimizer in self.moment.optimizers:
            # one that took a parameter over begins without the state that an earlier one had for it
            held = {self._names.get(id(one)) for group in optimizer.param_groups for one in group["params"]}
            found = {key: value for key, value in found.items() if key.rpartition("/")[0] not in held}
            for parameter, slots in optimizer.state.items():
                name = self._names.get(id(parameter))
                if name is not None:
                    found |= {f"{name}/{key}": _copy(v) for key, v in slots.items() if isinstance(v, Tensor)}
        return found

    def _finish(self, model: nn.Module, now: tuple[Tensors, Tensors]) -> None:
        """End the open step: the state `now` is the one after it. Ask once for each step, also for one that was lost."""
        step, self._open = self._open, None
        if step is None or not self._wanted_at(step.number):
            return
        if step.number != self.moment.step - 1:  # others came between, so that is not its own state
            self.lost.append(step.number)
            return
        parameters, buffers = now
        step.after = {name: v for name, v in parameters.items() if _alike(v, step.parameters.get(name))} | buffers
        step.model = _own(model)
        self.kept.append(step)

    def _wanted_at(self, number: int) -> bool:
        """Ask for every step up to `number` that was not asked for yet; return the answer for this one.

        Those before it whose answer is yes are lost.
        """
        while self._asked < number - 1:
            self._asked += 1
            if self.wanted():
                self.lost.append(self._asked)
        if self._asked >= number:
            return False
        self._asked = number
        return self.wanted()


def _answers(model: nn.Module | None, inputs: list[Tensor]) -> Tensor | None:
    """Return the model's output in eval mode. Without a model the result is None."""
    try:
        with torch.no_grad():
            found = model.eval()(*inputs) if model is not None else None
        return found if isinstance(found, Tensor) else None
    except Exception:  # the model may be anything
        return None


def _evaluating(model: nn.Module) -> list[str]:
    return [name for name, part in model.named_modules() if not part.training] if model.training else []


def _own(model: nn.Module) -> nn.Module | None:
    """Return a copy of the model, None if it cannot be copied."""
    try:
        return copy.deepcopy(model)
    except Exception:
        return None


def _copy(value: Tensor) -> Tensor:
    return value.detach().clone()


def _alike(one: Tensor, other: Tensor | None) -> bool:
    return other is not None and one.shape == other.shape


def read(arrays: dict[str, np.ndarray]) -> tuple[list[Step], list[int], list[list[Any]]]:
    """Return (kept steps, numbers of wanted steps that were lost, the optimizers' settings) from a run's arrays.

    Raises any error for malformed ones.
    """
    if "steps" not in arrays:
        return [], [], []
    about = json.loads(arrays["steps"].tobytes())
    if len(about["steps"]) > MOST:
        raise ValueError(f"{len(about['steps'])} steps were kept, and {MOST} are read at most")
    return [_step(one, arrays) for one in about["steps"]], [int(one) for one in about["lost"]], about["settings"]


def _step(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Step:
    number = int(about["number"])
    flat, rng = torch.from_numpy(arrays[f"steps.{number}"]), torch.from_numpy(arrays[f"steps.{number}.rng"])
    # copies: torch's set_rng_state reads a view from the wrong place
    calls = [
        Call([], [], state.clone(), bool(training), [str(name) for name in evaluating])
        for state, (training, evaluating) in zip(rng, about["modes"], strict=True)
    ]
    step = Step(number, {}, {}, {}, calls)
    at = 0
    for kind, which, shape, dtype in about["parts"]:
        count = int(np.prod(shape, dtype=np.int64))
        value = flat[at : at + count].reshape(shape).to(_DTYPES[dtype])
        at += count
        if kind == "answers":
            step.answers = value
        elif kind in ("inputs", "beside"):
            getattr(calls[which], kind).append(value)
        else:
            getattr(step, kind)[str(which)] = value
    return step
