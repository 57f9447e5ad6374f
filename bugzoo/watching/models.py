"""The models of a watched run: the root modules that were called, and what their parts are named."""

import contextlib
from collections.abc import Iterator
from typing import Any

from torch import nn


class Models:
    """Filled by Forwards as roots are called; History and a replay read it. It knows nobody."""

    def __init__(self) -> None:
        self.roots: dict[int, nn.Module] = {}
        """By id."""
        self.children: set[int] = set()
        self.places: dict[int, int] = {}
        """id of a module -> its column in `trace.module_stats`."""
        self.named: list[tuple[str, nn.Module]] = []
        """One for each column."""
        self.trained: dict[int, int] = {}
        """id of a root -> sampled steps in which it was trained."""
        self.kinds: dict[int, tuple[type[nn.Module], Any]] = {}
        """id of a module -> its class when it was called first, and a `forward` of its own."""

    def add(self, module: nn.Module) -> None:
        """A root module that is called for the first time."""
        self.roots[id(module)] = module
        for name, child in module.named_modules():
            if child is not module:
                self.children.add(id(child))
            self.kinds.setdefault(id(child), (type(child), child.__dict__.get("forward")))
            if id(child) not in self.places:
                self.places[id(child)] = len(self.named)
                kind = type(child).__name__
                self.named.append((f"{type(module).__name__}.{name} ({kind})" if name else kind, child))

    @contextlib.contextmanager
    def as_called(self) -> Iterator[None]:
        """Each module is what it was when it was called first: a script may have made another one of it since."""
        now = [(one, type(one), one.__dict__.get("forward")) for _, one in self.named]
        _become([(one, *self.kinds[id(one)]) for one, *_ in now])
        try:
            yield
        finally:
            _become(now)

    def ordered(self) -> list[nn.Module]:
        """Root modules, those that were trained most first."""
        return sorted(self.roots.values(), key=lambda module: -self.trained.get(id(module), 0))

    def names(self) -> dict[int, str]:
        """id of a module -> its name, as in `trace.modules`."""
        return {id(module): name for name, module in self.named}

    def owner(self, parameter: nn.Parameter) -> str | None:
        """Name of the module that holds `parameter`."""
        for name, module in self.named:
            if any(p is parameter for p in module._parameters.values()):
                return name
        return None

    def several_ranks(self) -> bool:
        """Are there gradients that other ranks have a part in?"""
        return any(isinstance(module, nn.parallel.DistributedDataParallel) for module in self.roots.values())


def _become(wanted: list[tuple[nn.Module, type[nn.Module], Any]]) -> None:
    for module, kind, forward in wanted:
        if type(module) is not kind:
            module.__class__ = kind
        if module.__dict__.get("forward") is not forward:
            module.__dict__.pop("forward", None)
            if forward is not None:
                module.__dict__["forward"] = forward
