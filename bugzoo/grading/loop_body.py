"""Repeat a kept training step with a program's own loop body, from the same state and batch.

The body runs without the statements that fetch or convert the batch: the batch is the kept one. Gradients are those with which
its optimizer would step. Nothing here knows a program, a fault or a right answer, so it may run in a sandbox (`own_step`).
"""

import ast
import copy
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

import torch
from torch import Tensor, nn

from bugzoo.syntax import called, parse
from bugzoo.watching.steps import Call, Step, Tensors

BATCH = ("inputs", "targets")
"""What every program calls its batch."""
LEAST_SCALE = 16.0
"""A loss scale below which an overflow is the step's own."""
GRADIENTS = {"backward", "grad", "grad_and_value"}
"""Functions of torch that compute gradients."""
Settings = Sequence[Any]
"""`Steps.settings` of the healthy twin's run."""


class CannotRepeat(Exception):
    """The healthy program cannot make this step; says why."""


class _Collector(torch.optim.SGD):
    """Takes the gradients and does not step."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model.parameters(), lr=0.0)
        self.model, self.found = model, {}

    def step(self, closure: Any = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.found = self.gradients()

    def gradients(self) -> Tensors:
        return {name: p.grad.detach().clone() for name, p in self.model.named_parameters() if p.grad is not None}


class _Idle:
    """Stands for the scheduler, whose effect is in the twin's settings."""

    def step(self, *_: Any) -> None:
        pass


class LoopBody:
    """The loop body of a program's text, one step at a time, in a model that its `names` hold or that is given."""

    def __init__(
        self, text: str, program: str, settings: Settings, names: dict[str, Any], model: nn.Module | None = None
    ) -> None:
        self.settings, self.names = settings, dict(names)
        self.model = copy.deepcopy(model or self.names["model"])
        every = list(self.model.named_parameters(remove_duplicate=False))
        self.aliases = {name: [a for a, q in every if q is p] for name, p in self.model.named_parameters()}
        _, self.code = body(text, program)
        self.fits = _target(self.names)

    def named(self, step: Step) -> Step:
        """Return the step with the healthy model's names, where only the names differ: the shapes are equal in order.

        Raises CannotRepeat for another model.
        """
        parts = (dict(self.model.named_parameters()), dict(self.model.named_buffers()))
        if all(set(part) == set(theirs) for part, theirs in zip(parts, (step.parameters, step.buffers), strict=True)):
            return step
        names: dict[str, str] = {}
        for part, theirs in zip(parts, (step.parameters, step.buffers), strict=True):
            if [value.shape for value in part.values()] != [value.shape for value in theirs.values()]:
                raise CannotRepeat("the model's parameters have other names and other shapes")
            names |= dict(zip(theirs, part, strict=True))
        return step.renamed(names)

    def skipped(self, step: Step) -> bool:
        """Return whether a loss scaler has skipped this step, which another one may have made."""
        return not finite(step.gradients) and any(scale != 1.0 for *_, scale in at(self.settings, step.number))

    def gradients(self, step: Step, call: Call, targets: Tensor, seed: int | None = None) -> Tensors:
        """Return name -> gradient of one forward and backward pass. `seed`: of dropout; else as in the kept step.

        Raises CannotRepeat.
        """
        self.load(step)
        return self._repeated(step, call, targets, seed)

    def _repeated(self, step: Step, call: Call, targets: Tensor, seed: int | None) -> Tensors:
        self.mode(call.training, call.evaluating)
        collector = _Collector(self.model)
        names = self.names | {
            "model": self.model, "optimizer": collector, "scheduler": _Idle(), "step": step.number - 1, "losses": [],
            "scaler": torch.amp.GradScaler("cpu", init_scale=self.scale), BATCH[0]: call.inputs[0], BATCH[1]: targets,
        }  # fmt: skip

        def begin(*_: Any) -> None:
            torch.manual_seed(seed) if seed is not None else torch.set_rng_state(call.rng)

        hook = self.model.register_forward_pre_hook(begin)
        try:
            with torch.random.fork_rng(devices=[]), torch.enable_grad():
                exec(self.code, names)
        except Exception as error:  # the batch may be anything
            raise CannotRepeat(f"{type(error).__name__}: {error}"[:200]) from None
        finally:
            hook.remove()
        gradients = collector.found or collector.gradients()  # a loss scaler skips a step that has overflowed
        if self.scale > LEAST_SCALE and not finite(gradients):  # another scaler may be at a lower scale by now
            self.scale /= 16
            return self._repeated(step, call, targets, seed)
        return gradients

    def mode(self, training: bool, evaluating: list[str]) -> None:
        """The healthy program trains in train mode, whatever a submission does."""
        self.model.train()

    def learning(self, step: Step) -> set[str]:
        """Return the names of the parameters that the twin trains at this step."""
        return {name for _, _, groups, _ in at(self.settings, step.number) for names, _ in groups for name in names}

    def mean(self, step: Step, targets: Sequence[Tensor], seed: int | None = None) -> Tensors:
        """Return the gradient over all forward passes of a step, each with the weight of its rows."""
        rows = [len(call.inputs[0]) for call in step.calls]
        total: Tensors = {}
        for call, labels, count in zip(step.calls, targets, rows, strict=True):
            for name, value in self.gradients(step, call, labels, seed).items():
                part = value * (count / sum(rows))
                total[name] = total[name] + part if name in total else part
        return total

    def answers(self, step: Step) -> Tensor:
        """Return the outputs in eval mode, with the state after the step, on the inputs of its last call."""
        self.load(step)
        state, fixed = self.model.state_dict(), constants(self.model)
        self.model.load_state_dict(state | {k: v for k, v in step.after.items() if k in state and k not in fixed})
        self.model.eval()
        with torch.no_grad():
            return self.model(step.calls[-1].inputs[0]).float()

    def load(self, step: Step) -> None:
        """Put the state before the step into the model, also parameters of another shape, as of a new head. Those require
        gradients that do in the twin at this step. Raises CannotRepeat."""
        parameters = dict(self.model.named_parameters())
        learn = self.learning(step)
        self.scale = max((scale for *_, scale in at(self.settings, step.number)), default=1.0)
        if set(parameters) != set(step.parameters):
            raise CannotRepeat("the model's parameters are others")
        for name, value in step.parameters.items():
            parameter = nn.Parameter(value.clone(), requires_grad=name in learn)
            for alias in self.aliases[name]:  # a tied parameter has several places
                path, _, last = alias.rpartition(".")
                setattr(self.model.get_submodule(path), last, parameter)
        fixed = constants(self.model)
        with torch.no_grad():
            for name, buffer in self.model.named_buffers():
                if name in step.buffers and name not in fixed and buffer.shape == step.buffers[name].shape:
                    buffer.copy_(step.buffers[name])


def finite(values: Tensors) -> bool:
    return all(bool(torch.isfinite(value).all()) for value in values.values())


def at(settings: Settings, number: int) -> list[tuple[int, str, Any, float]]:
    """Return (optimizer, class, groups, scale) of each optimizer that the twin uses at a step: the latest phase's."""
    phases: dict[int, tuple[int, str, Any, float]] = {}
    for step, place, kind, groups, scale in settings:
        if step <= number:
            phases[place] = (place, kind, groups, float(scale))
    return [phases[max(phases)]] if phases else []


@lru_cache(maxsize=32)
def body(text: str, program: str) -> tuple[CodeType, CodeType]:
    """Return the code of the innermost loop around `.backward()`: what fetches or converts the batch, and the rest."""
    loops = [node for node in ast.walk(parse(text)) if isinstance(node, ast.For) and _has(node, "backward")]
    inner = max(loops, key=lambda node: node.lineno)
    parts = [node for node in inner.body if _binds(node)], [node for node in inner.body if not _binds(node)]
    fetching, rest = (compile(ast.Module(part, []), f"{program}.py", "exec", dont_inherit=True) for part in parts)
    return fetching, rest


def head(text: str) -> str | None:
    """Return a program's text up to its training: up to the first statement at the top level that computes gradients,
    itself or by a function or class of the program. None without such a statement.
    """
    tree = parse(text)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    names: set[str] = set()
    while more := {node.name for node in defined if _trains(node, names)} - names:
        names |= more
    at = (place for place, node in enumerate(tree.body) if not isinstance(node, kinds) and _trains(node, names))
    place = next(at, None)
    return None if place is None else ast.unparse(ast.Module(tree.body[:place], type_ignores=[]))


def _trains(node: ast.AST, own: set[str]) -> bool:
    """Return whether a node computes gradients, or names one of the program's `own` functions or classes that do."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return bool(called(node) & (GRADIENTS | own) or names & own)


def _has(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr == name for part in ast.walk(node))


def _binds(node: ast.stmt) -> bool:
    bound = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return isinstance(node, ast.Assign) and bool(bound) and bound <= set(BATCH)


def _target(names: dict[str, Any]) -> Callable[[Tensor, Tensor], bool]:
    """Return a function: can a tensor be the targets of these inputs, as in the program's own first batch?"""
    loader = names.get("train_loader") or names.get("new_loader")
    with torch.random.fork_rng(devices=[]):
        if loader is not None:
            inputs, targets = next(iter(loader))
        else:
            inputs, targets = names["batch"](names["train_codes"], 2)
    same = targets.shape == inputs.shape  # one target a position

    def fits(given: Tensor, tensor: Tensor) -> bool:
        as_long = tensor.shape == given.shape if same else tensor.shape[1:] == targets.shape[1:]
        return tensor.dtype == targets.dtype and as_long

    return fits


def candidates(healthy: LoopBody, step: Step) -> list[list[Tensor]]:
    """Return the possible targets of all calls, in the order of the tensors beside them."""
    fits = healthy.fits
    each = [[tensor for tensor in call.beside if call.inputs and fits(call.inputs[0], tensor)] for call in step.calls]
    return [list(targets) for targets in zip(*each, strict=False)]


def constants(model: torch.nn.Module) -> set[str]:
    """Return buffers of the program's own modules, such as a mask: not learned, and a repair may drop one."""
    # BatchNorm's running statistics are results of the training
    own = [(path, part) for path, part in model.named_modules() if not type(part).__module__.startswith("torch.")]
    return {name for path, module in own for name, _ in module.named_buffers(path, recurse=False)}


def difference(one: Tensors, other: Tensors) -> float:
    """Return |one - other| / |other| over all names; a missing tensor counts as zeros. Infinite if not finite."""
    names = sorted({*one, *other})
    if not names:
        return 0.0
    a, b = (torch.cat([(x[n] if n in x else torch.zeros_like(y[n])).double().flatten() for n in names])
            for x, y in ((one, other), (other, one)))  # fmt: skip
    if not torch.isfinite(b).all():
        return 0.0 if not torch.isfinite(a).all() else float("inf")
    gap = float((a - b).norm() / b.norm().clamp(min=1e-30))
    return gap if gap == gap else float("inf")
