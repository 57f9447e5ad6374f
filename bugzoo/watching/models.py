"""The models of a watched run: the root modules that were called, and the names of their submodules."""

from torch import nn


class Models:
    """The root modules so far. `Forwards` adds them when they are called; `History` and replays read them."""

    def __init__(self) -> None:
        self.roots: dict[int, nn.Module] = {}
        """id -> root module."""
        self.children: set[int] = set()
        self.places: dict[int, int] = {}
        """id of a module -> its column in `trace.module_stats`."""
        self.named: list[tuple[str, nn.Module]] = []
        """(name, module) for each column."""
        self.trained: dict[int, int] = {}
        """id of a root -> sampled steps in which it was trained."""

    def add(self, module: nn.Module) -> None:
        """Add a root module at its first call."""
        self.roots[id(module)] = module
        for name, child in module.named_modules():
            if child is not module:
                self.children.add(id(child))
            if id(child) not in self.places:
                self.places[id(child)] = len(self.named)
                kind = type(child).__name__
                self.named.append((f"{type(module).__name__}.{name} ({kind})" if name else kind, child))

    def ordered(self) -> list[nn.Module]:
        """Return the root modules, the most trained first."""
        return sorted(self.roots.values(), key=lambda module: -self.trained.get(id(module), 0))

    def names(self) -> dict[int, str]:
        """Return id of a module -> its name, as in `trace.modules`."""
        return {id(module): name for name, module in self.named}

    def owner(self, parameter: nn.Parameter) -> str | None:
        """Return the name of the module that holds `parameter`."""
        for name, module in self.named:
            if any(p is parameter for p in module._parameters.values()):
                return name
        return None

    def several_ranks(self) -> bool:
        """Return whether gradients are averaged with other ranks."""
        return any(isinstance(module, nn.parallel.DistributedDataParallel) for module in self.roots.values())
