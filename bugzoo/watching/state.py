"""Copy everything that a training step changes. `bugzoo.rerun.restore` restores it exactly."""

import random
from collections import defaultdict, deque
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler
from torch.utils._pytree import tree_map

from bugzoo.watching.functional import unwrapped

_PLAIN = (int, float, bool, str, bytes, complex, type(None))
_cpu_generator = torch.default_generator
_CARRIERS = (LRScheduler, torch.amp.GradScaler)


def copied(value: Any) -> Any:
    """Return a copy of tensors and containers. Everything else is shared."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, defaultdict):
        return defaultdict(value.default_factory, {key: copied(item) for key, item in value.items()})
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    if type(value) in (list, tuple, set, deque):
        return type(value)(copied(item) for item in value)
    return value


def detached(value: Any) -> Any:
    """Return the same arguments without their autograd graph, so that keeping them does not keep activations."""
    return tree_map(lambda leaf: unwrapped(leaf).detach() if isinstance(leaf, torch.Tensor) else leaf, value)


def same_numbers(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors are exactly equal. NaN equals NaN."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(one, other) or bool(((one == other) | (one.isnan() & other.isnan())).all())


def get_rng() -> dict[str, Any]:
    """Return the global RNG states: torch, CUDA, numpy, Python."""
    state = {"torch": torch.get_rng_state(), "numpy": np.random.get_state(), "python": random.getstate()}
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def torch_rng() -> dict[str, Any]:
    """Return only torch's RNG state, which is fast enough for every step."""
    state: dict[str, Any] = {"torch": _cpu_generator.get_state()}
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def _own_objects(namespace: dict[str, Any]) -> list[Any]:
    """Return instances of classes that the watched code defines itself: trainers, counters, loggers."""
    home = namespace.get("__name__")
    return [
        v
        for v in namespace.values()
        if type(v).__module__ in (home, "__main__") and hasattr(v, "__dict__") and not isinstance(v, nn.Module | type)
    ]


class State:
    """A copy of everything that a step may change in `models`, `optimizers` and the objects in `namespace`.

    `earlier`: an older state of the same training. Everything that it would restore is copied here too.
    """

    def __init__(
        self,
        models: list[nn.Module],
        optimizers: list[Any],
        namespace: dict[str, Any],
        rng: bool,
        earlier: "State | None" = None,
    ) -> None:
        objects, recorded = _own_objects(namespace), earlier.own + earlier.carriers if earlier else []
        objects += [thing for thing, _ in recorded if not isinstance(thing, (nn.Module, *_CARRIERS))]
        objects = list({id(thing): thing for thing in objects}.values())
        values = [*namespace.values(), *(item for thing in objects for item in vars(thing).values())]
        values += [thing for thing, _ in recorded if isinstance(thing, _CARRIERS)]
        models = list({id(m): m for m in [*models, *(v for v in values if isinstance(v, nn.Module))]}.values())
        optimizers = [*optimizers, *(v for v in values if isinstance(v, torch.optim.Optimizer))]
        self.optimizers = list({id(o): o for o in optimizers}.values())
        self.modules = list({id(m): m for model in models for m in model.modules()}.values())
        held = [p for m in self.modules for p in m._parameters.values() if p is not None]
        held += [p for o in self.optimizers for group in o.param_groups for p in group["params"]]
        self.parameters = list({id(p): p for p in held}.values())
        with torch.no_grad():
            self.values = [p.detach().clone() for p in self.parameters]
            grads = (p.grad for p in self.parameters)
            self.grads: list[torch.Tensor | None] = [None if g is None else g.detach().clone() for g in grads]
            named = [(m, name, b) for m in self.modules for name, b in m._buffers.items() if b is not None]
            self.buffers = [(m, name, b, b.detach().clone()) for m, name, b in named]
        self.trainable = [p.requires_grad for p in self.parameters]
        self.modes = [m.training for m in self.modules]
        self.slots = [{p: copied(slot) for p, slot in o.state.items()} for o in self.optimizers]
        self.groups = [
            [{key: copied(v) for key, v in group.items() if key != "params"} for group in o.param_groups]
            for o in self.optimizers
        ]
        self.carriers = [(v, copied(vars(v))) for v in values if isinstance(v, _CARRIERS)]
        objects += [m for m in self.modules if not type(m).__module__.startswith("torch.")]
        self.own = [(thing, {k: v for k, v in vars(thing).items() if isinstance(v, _PLAIN)}) for thing in objects]
        self.generators = _generators(values)
        self.rng = get_rng() if rng else None

    def bytes(self) -> int:
        """Return the size of the copies in bytes."""
        tensors = [*self.values, *(g for g in self.grads if g is not None), *(b[3] for b in self.buffers)]
        tensors += [t for slots in self.slots for slot in slots.values() for t in slot.values() if torch.is_tensor(t)]
        return sum(t.numel() * t.element_size() for t in tensors)


def _generators(values: list[Any]) -> list[tuple[Any, Any]]:
    """Return (generator, its state) for each generator."""
    states: list[tuple[Any, Any]] = []
    for value in values:
        if isinstance(value, torch.Generator):
            states.append((value, value.get_state()))
        elif isinstance(value, random.Random):
            states.append((value, value.getstate()))
        elif isinstance(value, np.random.RandomState):
            states.append((value, value.get_state()))
        elif isinstance(value, np.random.Generator):
            states.append((value.bit_generator, value.bit_generator.state))
    return states
