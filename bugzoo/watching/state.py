"""Copies of everything that a training step changes, and putting them back to the last bit."""

import random
from collections import defaultdict, deque
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler

_PLAIN = (int, float, bool, str, bytes, complex, type(None))
_cpu_generator = torch.default_generator
_CARRIERS = (LRScheduler, torch.amp.GradScaler)


def copied(value: Any) -> Any:
    """Tensors and containers copied, everything else shared."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, defaultdict):
        return defaultdict(value.default_factory, {key: copied(item) for key, item in value.items()})
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    if type(value) in (list, tuple, set, deque):
        return type(value)(copied(item) for item in value)
    return value


def same_numbers(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal to the last bit, nan being equal to nan."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(one, other) or bool(((one == other) | (one.isnan() & other.isnan())).all())


def get_rng() -> dict[str, Any]:
    """The global random states: torch, CUDA, numpy, Python."""
    state = {"torch": torch.get_rng_state(), "numpy": np.random.get_state(), "python": random.getstate()}
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def set_rng(state: dict[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    if "numpy" in state:
        np.random.set_state(state["numpy"])
        random.setstate(state["python"])
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])


def torch_rng() -> dict[str, Any]:
    """torch's alone: quick enough for every step."""
    state: dict[str, Any] = {"torch": _cpu_generator.get_state()}
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def _own_objects(namespace: dict[str, Any]) -> list[Any]:
    """Instances of classes that the watched code defines itself: trainers, counters, loggers."""
    home = namespace.get("__name__")
    return [
        v
        for v in namespace.values()
        if type(v).__module__ in (home, "__main__") and hasattr(v, "__dict__") and not isinstance(v, nn.Module | type)
    ]


class State:
    """What a step may change, of `models`, `optimizers` and the objects in `namespace`, as it is now.

    `earlier`: a state of the same training. What it would put back is kept here as well, wherever it is reached from now.
    """

    def __init__(
        self,
        models: list[nn.Module],
        optimizers: list[Any],
        namespace: dict[str, Any],
        rng: bool,
        earlier: "State | None" = None,
    ) -> None:
        own, known = _own_objects(namespace), earlier.own + earlier.carriers if earlier else []
        own += [thing for thing, _ in known if not isinstance(thing, (nn.Module, *_CARRIERS))]
        own = list({id(thing): thing for thing in own}.values())
        values = [*namespace.values(), *(item for thing in own for item in vars(thing).values())]
        values += [thing for thing, _ in known if isinstance(thing, _CARRIERS)]
        models = list({id(m): m for m in [*models, *(v for v in values if isinstance(v, nn.Module))]}.values())
        optimizers = [*optimizers, *(v for v in values if isinstance(v, torch.optim.Optimizer))]
        self.optimizers = list({id(o): o for o in optimizers}.values())
        self.modules = list({id(m): m for model in models for m in model.modules()}.values())
        held = [p for m in self.modules for p in m._parameters.values() if p is not None]
        held += [p for o in self.optimizers for group in o.param_groups for p in group["params"]]
        self.parameters = list({id(p): p for p in held}.values())
        with torch.no_grad():
            self.values = [p.detach().clone() for p in self.parameters]
            self.grads: list[torch.Tensor | None] = [
                None if p.grad is None else p.grad.detach().clone() for p in self.parameters
            ]
            self.buffers = [
                (m, name, b, b.detach().clone())
                for m in self.modules
                for name, b in m._buffers.items()
                if b is not None
            ]
        self.trainable = [p.requires_grad for p in self.parameters]
        self.modes = [m.training for m in self.modules]
        self.slots = [{p: copied(slot) for p, slot in o.state.items()} for o in self.optimizers]
        self.groups = [
            [{key: copied(v) for key, v in group.items() if key != "params"} for group in o.param_groups]
            for o in self.optimizers
        ]
        self.carriers = [(v, copied(vars(v))) for v in values if isinstance(v, _CARRIERS)]
        own += [m for m in self.modules if not type(m).__module__.startswith("torch.")]
        self.own = [(thing, {k: v for k, v in vars(thing).items() if isinstance(v, _PLAIN)}) for thing in own]
        self.generators = _generators(values)
        self.rng = get_rng() if rng else None

    def bytes(self) -> int:
        """Size of the copies."""
        tensors = [*self.values, *(g for g in self.grads if g is not None), *(b[3] for b in self.buffers)]
        tensors += [t for slots in self.slots for slot in slots.values() for t in slot.values() if torch.is_tensor(t)]
        return sum(t.numel() * t.element_size() for t in tensors)

    @torch.no_grad()
    def restore(self) -> None:
        """Put everything back as it was; what is kept here stays fit for another restore."""
        for p, value, grad, trainable in zip(self.parameters, self.values, self.grads, self.trainable, strict=True):
            p.data.copy_(value)
            p.grad = None if grad is None else grad.clone()
            if p.requires_grad is not trainable:
                p.requires_grad_(trainable)
        for module, name, tensor, value in self.buffers:
            tensor.data.copy_(value)
            module._buffers[name] = tensor
        for module, mode in zip(self.modules, self.modes, strict=True):
            module.training = mode
        for optimizer, slots, groups in zip(self.optimizers, self.slots, self.groups, strict=True):
            optimizer.state = defaultdict(dict, {p: copied(slot) for p, slot in slots.items()})
            for group, old in zip(optimizer.param_groups, groups, strict=False):
                group.update(copied(old))
        for thing, old in self.carriers:
            vars(thing).update(copied(old))
        for thing, old in self.own:
            vars(thing).update(old)
        for put, old in self.generators:
            put(old)
        if self.rng is not None:
            set_rng(self.rng)


def _generators(values: list[Any]) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    for value in values:
        if isinstance(value, torch.Generator):
            found.append((value.set_state, value.get_state()))
        elif isinstance(value, random.Random):
            found.append((value.setstate, value.getstate()))
        elif isinstance(value, np.random.RandomState):
            found.append((value.set_state, value.get_state()))
        elif isinstance(value, np.random.Generator):
            bits = value.bit_generator
            found.append((lambda old, bits=bits: setattr(bits, "state", old), bits.state))
    return found


class Frozen:
    """The live objects as they are now (not copies), so that a replay can leave no trace in them.

    Containers and the attributes of the code's own objects are remembered item by item, two levels deep; gradients and
    optimiser slots as the very tensors that they are.
    """

    def __init__(self, state: State, namespace: dict[str, Any], *more: dict[str, Any]) -> None:
        self.state = state
        self.grads = [p.grad for p in state.parameters]
        self.slots = [o.state for o in state.optimizers]
        self.namespace, self.names = namespace, dict(namespace)
        self.containers: list[tuple[Any, Any]] = []
        for place in (namespace, *more):
            self._visit([value for name, value in place.items() if not name.startswith("__")], 0)
        for thing, _ in state.own:
            self.containers.append((vars(thing), dict(vars(thing))))
            self._visit(list(vars(thing).values()), 0)
        self.containers += [(vars(thing), dict(vars(thing))) for thing, _ in state.carriers]

    def _visit(self, values: list[Any], depth: int) -> None:
        for value in values:
            if type(value) in (list, dict, set, deque, defaultdict) and value is not self.namespace:
                self.containers.append((value, value.copy()))
                if depth < 1 and len(value) < 1000:
                    self._visit(list(value.values() if isinstance(value, dict) else value), depth + 1)

    def restore(self) -> None:
        self.state.restore()
        for parameter, grad in zip(self.state.parameters, self.grads, strict=True):
            parameter.grad = grad
        for optimizer, slots in zip(self.state.optimizers, self.slots, strict=True):
            optimizer.state = slots
        for name in [name for name in self.namespace if name not in self.names]:
            del self.namespace[name]
        self.namespace.update(self.names)
        for container, content in self.containers:
            _put_back(container, content)


def _put_back(container: Any, content: Any) -> None:
    """Make the live `container` hold `content` again, never emptying one that nobody changed."""
    if isinstance(container, dict):
        for key in [key for key in container if key not in content]:
            del container[key]
        container.update(content)
    elif isinstance(container, set):
        container.intersection_update(content)
        container.update(content)
    elif len(container) != len(content) or any(a is not b for a, b in zip(container, content, strict=True)):
        if isinstance(container, deque):
            container.clear()
            container.extend(content)
        else:
            container[:] = content
