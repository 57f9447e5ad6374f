"""Keep single training steps whole, so that another program can make the same step from the same state.

A kept step holds the weights, buffers and optimizer state before it, its batch, its gradients, and the weights after it.
Which steps are kept is asked only after each of them. The answer is read after the next one, as a script that waited for it at
each step would need a sixth longer, and a kept step leaves this process then: code that behaves well on some steps cannot know
which, and code that would change an earlier step finds none.
"""

import contextlib
import copy
import io
import json
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules import module as _module
from torch.utils._pytree import tree_leaves

from bugzoo.watching.loop import user_frames
from bugzoo.watching.step_context import StepContext

BATCH = 2**20
"""Most numbers of one tensor of a batch."""
NAMES = 12
"""Most local tensors that are kept beside a batch: one of them holds its targets."""
MOST = 200
"""Most steps that are read from one run."""
LAST = "last"
"""Name of the last step, where the others have their number."""
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
    """Parameters and buffers when the next step begins; without those that have another shape by then."""
    replaced: bool = False
    """Whether other parameters stand in their place when the next step begins, as those of a new head."""
    answers: Tensor | None = None
    """The model's output in eval mode, with the state after the step, on the inputs of its last call."""

    def renamed(self, names: dict[str, str]) -> "Step":
        """Return the same step with other names: old -> new; a slot's key keeps what follows the name."""

        def with_names(values: Tensors) -> Tensors:
            parts = ((name.partition("/"), value) for name, value in values.items())
            return {names.get(name, name) + cut + rest: value for (name, cut, rest), value in parts}

        kinds = ("parameters", "buffers", "slots", "gradients", "after")
        return replace(self, **{kind: with_names(getattr(self, kind)) for kind in kinds})

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the step as three plain arrays: what stands where, the numbers, the random state of each call."""
        parts: list[tuple[Any, Tensor]] = []
        for kind in ("parameters", "buffers", "slots", "gradients", "after"):
            parts += [([kind, name], value) for name, value in getattr(self, kind).items()]
        for place, call in enumerate(self.calls):
            for kind in ("inputs", "beside"):
                parts += [([kind, place], value) for value in getattr(call, kind)]
        parts += [(["answers", ""], self.answers)] if self.answers is not None else []
        about = {
            "number": self.number,
            "replaced": self.replaced,
            "modes": [[call.training, call.evaluating] for call in self.calls],
            "parts": [[*which, list(value.shape), str(value.dtype)] for which, value in parts],
        }
        numbers = [value.detach().float().cpu().numpy().reshape(-1) for _, value in parts]
        states = [call.rng.numpy() for call in self.calls]
        return {"about": _packed(about), "values": np.concatenate(numbers), "rng": np.stack(states)}


class Keeping(Protocol):
    """Who says which steps are kept, and takes them."""

    def ask(self) -> None:
        """Called once after each step, in order."""
        ...

    def wanted(self) -> bool:
        """Called once after each question, and before the next one: whether that step is kept."""
        ...

    def leave(self, step: dict[str, np.ndarray] | None) -> None:
        """Take a step after a yes, as `Step.arrays` gives it; None for one that cannot be kept."""
        ...


class Steps:
    """Called by the recorder at each forward pass with gradients, each optimizer step and at the end.

    `settings` lists what the optimizers did, [step, optimizer, class, [[names, settings], ...], scale of the loss], at the
    first step and after each change.
    """

    def __init__(self, moment: StepContext, draw: Keeping, model: str = "model") -> None:
        self.moment, self.draw, self.model = moment, draw, model
        self.lost: list[int] = []
        """Wanted steps whose forward pass was not seen, as `model.forward(inputs)` calls no hook."""
        self.settings: list[list[Any]] = []
        self._latest: dict[int, Any] = {}
        self._asked = 0
        self._open: Step | None = None
        self._pending: tuple[int, Step | None, nn.Module] | None = None
        """The step that was asked for last, whose answer is read after the next one; None for one that cannot be kept."""
        self._last: Step | None = None
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
            before = self._objects
            self._meet(model)
            now = self._state(model)
            if self._open is not None:
                self._open.replaced = any(before.get(name) is not p for name, p in self._objects.items())
            self._finish(model, now)
            self._open = Step(self.moment.step, *now, self._slots())
        inputs = [_copy(leaf) for leaf in tree_leaves(args) if isinstance(leaf, Tensor) and leaf.numel() <= BATCH]
        rows = inputs[0].shape[0] if inputs and inputs[0].ndim else -1
        beside: dict[int, Tensor] = {}
        for frame in frames:
            for value in frame.f_locals.values():
                if isinstance(value, Tensor) and value.ndim and value.shape[0] == rows and len(beside) < NAMES:
                    small = not value.requires_grad and value.numel() <= BATCH
                    if small and not any(value is tensor for tensor in args):
                        beside[id(value)] = value
        tensors, rng = [_copy(tensor) for tensor in beside.values()], torch.get_rng_state()
        self._open.calls.append(Call(inputs, tensors, rng, module.training, _evaluating(module)))

    def at_step(self, optimizer: torch.optim.Optimizer, scale: float) -> None:
        """Take the gradients with which an optimizer steps, and its settings where they have changed."""
        groups = []
        if not self._objects and isinstance(model := self._space.get(self.model), nn.Module):
            self._meet(model)  # in its first forward pass other tensors stood in their place
        for group in optimizer.param_groups:
            pairs = [(self._names[id(p)], p) for p in group["params"] if id(p) in self._names]
            if self._open is not None:
                for name, p in pairs:
                    if p.grad is not None:
                        self._open.gradients[name] = _copy(p.grad)
            numbers = {key: value for key, value in group.items() if isinstance(value, int | float | tuple | None)}
            groups.append([[name for name, p in pairs if p.requires_grad], numbers])
        scale = scale if scale == scale else 1.0  # NaN: no scaler
        if self._latest.get(id(optimizer)) != (groups, scale):
            self._latest[id(optimizer)] = (groups, scale)
            place = list(self._latest).index(id(optimizer))
            self.settings.append([self.moment.step, place, type(optimizer).__name__, groups, scale])

    def by_hand(self, gradients: dict[nn.Parameter, Tensor]) -> None:
        """Take the gradients with which the script itself has changed the weights."""
        if self._open is not None:
            named = {self._names[id(p)]: value for p, value in gradients.items() if id(p) in self._names}
            self._open.gradients |= {name: _copy(value) for name, value in named.items()}

    def close(self) -> None:
        """The last step ends with the script, so what moved the weights after it is seen in it. It is kept beside the others."""
        model = self._space.get(self.model)
        self._ask(self.moment.step - 2, None, nn.Module())
        self._settle()
        if self._open is not None and isinstance(model, nn.Module):
            self._meet(model)
            self._open.after = _same_shapes(self._state(model)[0], self._open.parameters)
            self._last = self._open
        self._open = None
        self._space = {}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what is known beside the kept steps, as `read` reads it."""
        last = self._last.arrays() if self._last is not None else {}
        parts = {f"steps.{LAST}.{part}": value for part, value in last.items()}
        return parts | {"steps": _packed({"settings": self.settings, "lost": self.lost})}

    # ---- internal

    def _meet(self, model: nn.Module) -> None:
        """Record the model's parameters. Within torch.func other tensors stand in their place: then the known ones stay."""
        parameters = dict(model.named_parameters())
        if not all(type(p) is nn.Parameter for p in parameters.values()):
            if self._objects:
                return
            tracked = self.moment.parameters  # which are added as soon as they are back in their place
            parameters = {name: p for p in tracked.held if (name := tracked.name(p))}
        self._objects = parameters
        self._names = {id(p): name for name, p in parameters.items()}

    @torch.no_grad()
    def _state(self, model: nn.Module) -> tuple[Tensors, Tensors]:
        parameters = {name: p.detach().clone() for name, p in self._objects.items()}
        return parameters, {name: buffer.detach().clone() for name, buffer in model.named_buffers()}

    def _slots(self) -> Tensors:
        tensors: Tensors = {}
        for optimizer in self.moment.optimizers:
            # one that took a parameter over begins without the state that an earlier one had for it
            held = {self._names.get(id(weight)) for group in optimizer.param_groups for weight in group["params"]}
            tensors = {key: value for key, value in tensors.items() if key.rpartition("/")[0] not in held}
            for parameter, slots in optimizer.state.items():
                name = self._names.get(id(parameter))
                if name is not None:
                    tensors |= {f"{name}/{key}": _copy(v) for key, v in slots.items() if isinstance(v, Tensor)}
        return tensors

    def _finish(self, model: nn.Module, now: tuple[Tensors, Tensors]) -> None:
        """End the open step: the state `now` is the one after it. Ask once for each step, also for one that was lost."""
        step, self._open = self._open, None
        if step is None:
            return
        parameters, buffers = now
        step.after = _same_shapes(parameters, step.parameters) | buffers
        # if others came between, that is not its own state
        self._ask(step.number, step if step.number == self.moment.step - 1 else None, model)

    def _ask(self, number: int, step: Step | None, model: nn.Module) -> None:
        """Ask for every step up to `number` that was not asked for yet. Those before it cannot be kept."""
        while self._asked < number:
            self._settle()
            self._asked += 1
            self.draw.ask()
            self._pending = (self._asked, step if self._asked == number else None, model)

    def _settle(self) -> None:
        """Read the answer to the last question, and let that step go if it is kept."""
        if self._pending is None:
            return
        (number, step, model), self._pending = self._pending, None
        if not self.draw.wanted():
            return
        if step is None:
            self.lost.append(number)
        else:
            with _unnoticed(self.moment):
                step.answers = _answers(model, step)
        self.draw.leave(step.arrays() if step is not None else None)


def _answers(model: nn.Module, step: Step) -> Tensor | None:
    """Return the output in eval mode of a copy of the model with the state after the step; None without one."""
    try:
        then = copy.deepcopy(model).eval()
        for name, value in (*then.named_parameters(), *then.named_buffers()):
            value.data = step.after.get(name, value.data)
        answer = then(*step.calls[-1].inputs)
        return answer if isinstance(answer, Tensor) else None
    except Exception:  # the model may be anything
        return None


@contextlib.contextmanager
def _unnoticed(moment: StepContext) -> Iterator[None]:
    """Within the block nothing is recorded or printed, and the training's generators and modes stay as they are."""
    python, numpy, thread = random.getstate(), np.random.get_state(), moment.thread
    hooks = [(place, dict(place)) for place in (_module._global_forward_pre_hooks, _module._global_forward_hooks)]
    moment.thread = -1  # no thread's: contracts do not listen
    for place, _ in hooks:
        place.clear()
    try:
        with (
            torch.random.fork_rng(devices=[]),
            torch.no_grad(),
            torch.autocast("cpu", enabled=False),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            yield
    finally:
        for place, before in hooks:
            place.clear()
            place.update(before)
        moment.thread = thread
        random.setstate(python)
        np.random.set_state(numpy)


def _evaluating(model: nn.Module) -> list[str]:
    return [name for name, part in model.named_modules() if not part.training] if model.training else []


def _packed(about: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(json.dumps(about, default=str).encode(), dtype=np.uint8)


def _copy(value: Tensor) -> Tensor:
    return value.detach().clone()


def _same_shapes(values: Tensors, before: Tensors) -> Tensors:
    return {name: value for name, value in values.items() if name in before and value.shape == before[name].shape}


def read(arrays: dict[str, np.ndarray]) -> tuple[list[Step], list[int], list[list[Any]]]:
    """Return (kept steps, numbers of wanted steps that were lost, the optimizers' settings) from a run's arrays.

    Raises any error for malformed ones.
    """
    if "steps" not in arrays:
        return [], [], []
    about = json.loads(arrays["steps"].tobytes())
    numbers = sorted((name.split(".")[1] for name in arrays if re.fullmatch(r"steps\.\d+\.about", name)), key=int)
    if len(numbers) > MOST:
        raise ValueError(f"{len(numbers)} steps were kept, and {MOST} are read at most")
    return [_step(number, arrays) for number in numbers], [int(step) for step in about["lost"]], about["settings"]


def last(arrays: dict[str, np.ndarray]) -> Step | None:
    """Return the last step, which ends with the script; None if none was seen. Raises any error for malformed arrays."""
    return _step(LAST, arrays) if f"steps.{LAST}.about" in arrays else None


def _step(name: str, arrays: dict[str, np.ndarray]) -> Step:
    about = json.loads(arrays[f"steps.{name}.about"].tobytes())
    flat, rng = torch.from_numpy(arrays[f"steps.{name}.values"]), torch.from_numpy(arrays[f"steps.{name}.rng"])
    # copies: torch's set_rng_state reads a view from the wrong place
    calls = [
        Call([], [], state.clone(), bool(training), [str(name) for name in evaluating])
        for state, (training, evaluating) in zip(rng, about["modes"], strict=True)
    ]
    step = Step(int(about["number"]), {}, {}, {}, calls, replaced=bool(about["replaced"]))
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
