"""Restore a run's state. Of the watch, the instruments and this package, only this file does so.

`bugzoo.watching.state` makes the copies. Here they are restored exactly: parameters, gradients, buffers, modes,
optimizers, schedulers, loss scalers, generators, names, containers and the attributes of the script's own objects.
"""

import contextlib
import random
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from bugzoo.rerun.silence import silent
from bugzoo.watching.between import Between
from bugzoo.watching.history import Snapshot
from bugzoo.watching.live import Past
from bugzoo.watching.state import State, copied

# -- a training ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def back_at(past: Past, snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """Set the training back to `snapshot`, silently, and yield the names that its loop's body reads and assigns.

    Everything is restored afterwards, even after an exception.
    """
    names = snapshot.frame_globals if snapshot.top_level else dict(snapshot.namespace)
    state = State(past.models.ordered(), past.moment.optimizers, {**snapshot.namespace, **names}, True, snapshot.state)
    frozen = _Frozen(state, names, snapshot.frame_globals)
    try:
        with silent(), torch.enable_grad():
            restore(snapshot.state)
            names.update(snapshot.namespace)
            yield names
    finally:
        frozen.restore()


@torch.no_grad()
def restore(state: State) -> None:
    """Restore everything from `state`, which can be used again."""
    for p, value, grad, trainable in zip(state.parameters, state.values, state.grads, state.trainable, strict=True):
        p.data.copy_(value)
        p.grad = None if grad is None else grad.clone()
        if p.requires_grad is not trainable:
            p.requires_grad_(trainable)
    for module, name, tensor, value in state.buffers:
        tensor.data.copy_(value)
        module._buffers[name] = tensor
    for module, mode in zip(state.modules, state.modes, strict=True):
        module.training = mode
    for optimizer, slots, groups in zip(state.optimizers, state.slots, state.groups, strict=True):
        optimizer.state = defaultdict(dict, {p: copied(slot) for p, slot in slots.items()})
        for group, old in zip(optimizer.param_groups, groups, strict=False):
            group.update(copied(old))
    for thing, old in state.carriers:
        vars(thing).update(copied(old))
    for thing, old in state.own:
        vars(thing).update(old)
    set_random(state)


def forget(optimizers: Iterable[torch.optim.Optimizer]) -> None:
    """Clear the state of each optimizer, as before its first step."""
    for optimizer in optimizers:
        optimizer.state = defaultdict(dict)


def put_back(between: Between, names: dict[str, Any]) -> bool:
    """Restore `names` to their values at an epoch's first forward.

    Returns True if the loop's body can continue at the forward, False if it must run from its start.
    """
    for name, (value, version) in between.names.items():
        tensor = isinstance(value, torch.Tensor)
        if not tensor or (value._version == version and names.get(name) is not value):
            names[name] = copied(value)
    for optimizer, groups in between.groups:
        for group, values in zip(optimizer.param_groups, groups, strict=True):
            group.update(values)
    if between.args is None:
        return False
    for optimizer, _ in between.groups if between.empty is not None else ():
        for parameter in (p for group in optimizer.param_groups for p in group["params"]):
            parameter.grad = None if between.empty or parameter.grad is None else torch.zeros_like(parameter.grad)
    return True


@contextlib.contextmanager
def stepping_at(rate: float) -> Iterator[None]:
    """Let every optimizer step with this learning rate, its groups in proportion. Their own rates return after each step."""
    before: list[Any] = []

    def lend(optimizer: Any, args: Any, kwargs: Any) -> None:
        before[:] = [group["lr"] for group in optimizer.param_groups]
        highest = max(max(float(previous) for previous in before), 1e-30)
        for group in optimizer.param_groups:
            group["lr"] = group["lr"] * (rate / highest)

    def back(optimizer: Any, args: Any, kwargs: Any) -> None:
        for group, old in zip(optimizer.param_groups, before, strict=True):
            group["lr"] = old

    with register_optimizer_step_pre_hook(lend), register_optimizer_step_post_hook(back):
        yield


class _Frozen:
    """The current live objects (not copies), so that a re-run does not change them.

    Containers and the attributes of the code's own objects are recorded item by item, two levels deep. Gradients and
    optimizer state are recorded as the same tensor objects.
    """

    def __init__(self, state: State, namespace: dict[str, Any], *more: dict[str, Any]) -> None:
        self.state = state
        self.grads = [p.grad for p in state.parameters]
        self.slots = [o.state for o in state.optimizers]
        self.namespace, self.names = namespace, dict(namespace)
        self.containers = _contents(namespace, *more)
        for thing, _ in state.own:
            self.containers.append((vars(thing), dict(vars(thing))))
            self.containers += _contents(vars(thing))
        self.containers += [(vars(thing), dict(vars(thing))) for thing, _ in state.carriers]

    def restore(self) -> None:
        restore(self.state)
        for parameter, grad in zip(self.state.parameters, self.grads, strict=True):
            parameter.grad = grad
        for optimizer, slots in zip(self.state.optimizers, self.slots, strict=True):
            optimizer.state = slots
        for name in [name for name in self.namespace if name not in self.names]:
            del self.namespace[name]
        self.namespace.update(self.names)
        for container, content in self.containers:
            _refill(container, content)


@contextlib.contextmanager
def same_containers(*places: dict[str, Any], whole: Iterable[dict[str, Any]] = ()) -> Iterator[None]:
    """Restore the lists, dicts, sets and deques that these names refer to, two levels deep, afterwards.

    `whole`: places that are restored themselves too, such as the attributes of an object.
    A function of the script that is called again may append to a global list, such as a cache.
    """
    containers = [*_contents(*places, *whole), *((place, dict(place)) for place in whole)]
    try:
        yield
    finally:
        for container, content in containers:
            _refill(container, content)


def _contents(*places: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return (container, copy of its items) for the containers in these namespaces and those directly inside them."""
    pairs: list[tuple[Any, Any]] = []

    def visit(values: list[Any], depth: int) -> None:
        for value in values:
            if type(value) in (list, dict, set, deque, defaultdict) and not any(value is place for place in places):
                pairs.append((value, value.copy()))
                if depth < 1 and len(value) < 1000:
                    visit(list(value.values() if isinstance(value, dict) else value), depth + 1)

    for place in places:
        visit([value for name, value in place.items() if not name.startswith("__")], 0)
    return pairs


def _refill(container: Any, content: Any) -> None:
    """Restore `content` in the live `container`, without emptying an unchanged one."""
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


# -- a model -------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def unchanged(model: torch.nn.Module) -> Iterator[None]:
    """Restore modes and buffers of `model`, and torch's RNG states, afterwards."""
    modes = {module: module.training for module in model.modules()}
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices):
        try:
            yield
        finally:
            for module, mode in modes.items():
                module.training = mode
            with torch.no_grad():
                for name, buffer in model.named_buffers():
                    if name in buffers and buffer.shape == buffers[name].shape:
                        buffer.copy_(buffers[name])


@contextlib.contextmanager
def with_weights(model: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> Iterator[None]:
    """Give `model` other weights (name -> tensor, as in its state_dict), and restore its own afterwards."""
    originals = {name: value.detach().clone() for name, value in model.state_dict().items()}
    try:
        model.load_state_dict(weights)
        yield
    finally:
        model.load_state_dict(originals)


# -- random numbers, and single values -------------------------------------------------------------------------------------


def set_rng(rng: Mapping[str, Any]) -> None:
    """Set the global RNG states that `bugzoo.watching.state.get_rng` or `torch_rng` returned."""
    torch.set_rng_state(rng["torch"])
    if "numpy" in rng:
        np.random.set_state(rng["numpy"])
        random.setstate(rng["python"])
    if "cuda" in rng:
        torch.cuda.set_rng_state_all(rng["cuda"])


def set_random(state: State) -> None:
    """Set all generators, including the script's own, to their states in `state`."""
    for generator, old in state.generators:
        if isinstance(generator, random.Random):
            generator.setstate(old)
        elif isinstance(generator, np.random.BitGenerator):
            generator.state = old
        else:
            generator.set_state(old)
    if state.rng is not None:
        set_rng(state.rng)


@contextlib.contextmanager
def same_random(*generators: torch.Generator) -> Iterator[None]:
    """Restore torch's global CPU generator, and the given ones, afterwards."""
    states = [generator.get_state() for generator in generators]
    with torch.random.fork_rng(devices=[]):
        try:
            yield
        finally:
            for generator, state in zip(generators, states, strict=True):
                generator.set_state(state)


@contextlib.contextmanager
def lent(thing: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute of `thing` to another value for the block."""
    old = getattr(thing, name)
    setattr(thing, name, value)
    try:
        yield
    finally:
        setattr(thing, name, old)
