"""Everything that one step makes, in the order in which it makes it, when that step is run again: for comparing two runs."""

import linecache
import sys
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as torch_module
from torch.utils._pytree import tree_leaves
from torch.utils.hooks import RemovableHandle

from bugzoo.watching.history import Iteration, leaves
from bugzoo.watching.loop import user_frames
from bugzoo.watching.probe import Look, op_name
from bugzoo.watching.replay import Past
from bugzoo.watching.state import State

BEFORE = ("parameter", "buffer", "optimiser", "setting", "mode", "trainable", "batch", "random state")
"""Stages of a step, in the order in which they are asked for: what it begins with, and what it makes of it."""
STAGES = (*BEFORE, "forward", "loss", "old gradient", "gradient", "gradient at the step", "update", "after")


@dataclass(slots=True)
class Entry:
    """One thing that a step had or made. `value`: a tensor of its own, a number or a text."""

    stage: str
    name: str
    value: Any
    module: str | None = None
    file: str | None = None
    line: int | None = None
    code: str = ""


def code_at(past: Past, file: str | None, line: int | None) -> str:
    """The text of a line as it was when the run was made: another run may have used the file's name since."""
    lines = past.lines.get(file or "") or linecache.getlines(file or "")
    return lines[line - 1].strip() if line and line <= len(lines) else ""


def of_state(past: Past, state: State) -> list[Entry]:
    """What a state holds, as entries of the first stages."""
    modules, home = past.models.names(), past.moment.parameters
    loop = past.moment.loop.loop
    place = (loop.file, loop.node.lineno, code_at(past, loop.file, loop.node.lineno)) if loop else (None, None, "")
    names = {id(p): home.name(p) or f"parameter {number}" for number, p in enumerate(state.parameters)}
    found = [
        Entry("parameter", names[id(p)], value, past.models.owner(p), *place)
        for p, value in zip(state.parameters, state.values, strict=True)
    ]
    found += [
        Entry("buffer", f"{modules.get(id(m), type(m).__name__)}.{name}", value, modules.get(id(m)), *place)
        for m, name, _, value in state.buffers
    ]
    known = {id(one) for one in past.moment.optimizers}
    for number, (optimizer, slots, groups) in enumerate(zip(state.optimizers, state.slots, state.groups, strict=True)):
        if id(optimizer) not in known:
            continue
        mark = f" of optimiser {number}" if len(known) > 1 else ""
        for parameter, slot in slots.items():
            for key, value in slot.items():
                if isinstance(value, torch.Tensor | int | float):
                    name = f"{names.get(id(parameter), '?')}, {key}{mark}"
                    found.append(Entry("optimiser", name, value, past.models.owner(parameter), *place))
        found.append(Entry("setting", f"kind{mark}", type(optimizer).__name__, None, *place))
        for row, group in enumerate(groups):
            of_group = f"{mark}, group {row}" if len(groups) > 1 else mark
            plain = {key: value for key, value in group.items() if isinstance(value, bool | int | float | tuple)}
            found += [Entry("setting", f"{key}{of_group}", value, None, *place) for key, value in plain.items()]
    for module, mode in zip(state.modules, state.modes, strict=True):
        if id(module) in modules:
            text = "in training mode" if mode else "in evaluation mode"
            found.append(Entry("mode", modules[id(module)], text, modules[id(module)], *place))
    for parameter, trainable in zip(state.parameters, state.trainable, strict=True):
        text = "it is trained" if trainable else "it requires no gradient"
        found.append(Entry("trainable", names[id(parameter)], text, past.models.owner(parameter), *place))
    return found + of_random(state.rng or {}, *place)


def of_random(states: dict[str, Any], *place: Any) -> list[Entry]:
    """torch's random states. Those of numpy and Python are not compared: many scripts seed them not, and what is drawn from
    them shows in what it is for."""
    flat = {
        name: torch.stack(states[name]) if name == "cuda" else states[name]
        for name in ("torch", "cuda")
        if name in states
    }
    return [Entry("random state", f"torch's ({name})", value, None, *place) for name, value in flat.items()]


class Tape(Look):
    """While active, notes what the step makes. `whole` False: only the state that it leaves."""

    def __init__(self, past: Past, iteration: Iteration, whole: bool = True) -> None:
        super().__init__()
        self.past, self.iteration, self.whole = past, iteration, whole
        self.entries: list[Entry] = []
        self.after: list[Entry] = []
        self.quiet = not whole
        self._modules = past.models.names()
        self._stack: list[nn.Module] = []
        self._began = False
        self._backwards = self._steps = 0

    def __enter__(self) -> "Tape":
        pre, post = torch_module._global_forward_pre_hooks, torch_module._global_forward_hooks
        self._ids = RemovableHandle(pre).id, RemovableHandle(post).id
        pre[self._ids[0]] = lambda module, args: self._stack.append(module)
        post[self._ids[1]] = self._leave
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        torch_module._global_forward_pre_hooks.pop(self._ids[0], None)
        torch_module._global_forward_hooks.pop(self._ids[1], None)

    def _note(self, stage: str, name: str, value: Any, module: str | None = None, depth: int = 2) -> None:
        frame = next(user_frames(sys._getframe(depth)), None)
        file, line = (frame.f_code.co_filename, frame.f_lineno) if frame else (None, None)
        kept = value.detach().clone() if isinstance(value, torch.Tensor) else value
        self.entries.append(Entry(stage, name, kept, module, file, line, code_at(self.past, file, line)))

    def _state(self) -> list[Entry]:
        return of_state(self.past, State(self.past.models.ordered(), self.past.moment.optimizers, {}, rng=True))

    # -- forward ------------------------------------------------------------------------------------------------------

    def at_forward(self, args: tuple[Any, ...]) -> None:
        if not self.whole:
            return
        quiet, self.quiet, self._began = self.quiet, True, True
        before = self._state()
        self.entries += [one for one in before if one.stage != "random state"]
        place = (before[0].file, before[0].line, before[0].code) if before else (None, None, "")
        given = {name: leaves(value) for name, value in self.iteration.values.items()}
        for name, tensors in given.items():
            for number, tensor in enumerate(tensors):
                shown = f"{name}[{number}]" if len(tensors) > 1 else name
                self.entries.append(Entry("batch", shown, tensor.detach().clone(), None, *place))
        for number, leaf in enumerate(one for one in tree_leaves(args) if isinstance(one, torch.Tensor)):
            self._note("batch", f"argument {number + 1} of the model", leaf, None, 3)
        self.entries += [one for one in before if one.stage == "random state"]
        self.quiet = quiet

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not self.quiet and self._began and torch.is_grad_enabled():
            for tensor in tree_leaves(result):
                if isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None and tensor.is_floating_point():
                    self.quiet = True
                    self._note("forward", op_name(func), tensor, self._name(), 2)
                    self.quiet = False
        return result

    def _leave(self, module: nn.Module, args: Any, output: Any) -> None:
        while self._stack and self._stack.pop() is not module:
            pass
        if not self.quiet and self._began and torch.is_grad_enabled():
            self.quiet = True
            for tensor in tree_leaves(output):
                if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                    self._note("forward", type(module).__name__, tensor, self._modules.get(id(module)), 2)
            self.quiet = False

    def _name(self) -> str | None:
        return self._modules.get(id(self._stack[-1])) if self._stack else None

    # -- backward and step --------------------------------------------------------------------------------------------

    def before_backward(self, root: Any) -> None:
        quiet, self.quiet = self.quiet, True
        self._backwards += 1
        if self.whole:
            if isinstance(root, torch.Tensor):
                self._note("loss", f"backward() number {self._backwards}", root, None, 3)
            if self._backwards == 1:
                self._gradients("old gradient")
        self.quiet = quiet

    def after_backward(self) -> None:
        self._gradients("gradient", f", after backward() number {self._backwards}" if self._backwards > 1 else "")

    def before_step(self, optimizer: Any) -> None:
        self._gradients("gradient at the step")

    def _gradients(self, stage: str, mark: str = "") -> None:
        """Those of the last layers first, as backward() makes them; none is the same as nothing but zeros."""
        if not self.whole:
            return
        quiet, self.quiet = self.quiet, True
        held = [p for model in self.past.models.ordered() for p in model.parameters()]
        for number, p in reversed(list(enumerate({id(p): p for p in held}.values()))):
            name = self.past.moment.parameters.name(p) or f"parameter {number}"
            value = torch.zeros(p.shape) if p.grad is None else p.grad.to_dense()
            self._note(stage, f"{name}{mark}", value, self.past.models.owner(p), 4)
        self.quiet = quiet

    def after_step(self) -> None:
        self.quiet = True
        self.after = self._state()
        frame = next(user_frames(sys._getframe(1)), None)
        place = (frame.f_code.co_filename, frame.f_lineno) if frame else (None, None)
        for one in self.after:
            one.file, one.line = place
            one.code = code_at(self.past, *place)
            one.name = one.name if one.stage == "parameter" else f"{one.stage} {one.name}"
            one.stage = "update" if one.stage == "parameter" else "after"
        self.entries += self.after if self.whole else []
