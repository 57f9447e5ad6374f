"""What is listened to, and how a listener takes its place so that torch.jit and torch.compile do not notice."""

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from torch.jit import _builtins

from bugzoo.contracts import contracts
from bugzoo.contracts.model import Contract


def by_target() -> dict[str, list[Contract]]:
    """Return dotted name -> its contracts."""
    targets: dict[str, list[Contract]] = {}
    for contract in contracts().values():
        for target in contract.on:
            targets.setdefault(target, []).append(contract)
    return targets


def resolve(target: str) -> tuple[Any, str] | None:
    """Return (object, attribute) of a dotted name; None where its package is not loaded, or has no such part."""
    parts = target.split(".")
    if parts[0] not in sys.modules:
        return None
    for cut in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:cut])
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except ImportError:
                continue
        place: Any = sys.modules[name]
        for part in parts[cut:-1]:
            place = getattr(place, part, None)
        return (place, parts[-1]) if hasattr(place, parts[-1]) else None
    return None


def disguised(heard: Any, original: Any) -> Any:
    """Return the listener `heard` with the looks of `original`. torch.jit and torch.compile take the original in its place.

    They do so for functions under @script_if_tracing. torch.jit resolves the names of a method in the globals of what it
    finds, and knows a function in C by its id: `undisguise` takes that back.
    """
    if inspect.isfunction(original):
        function = FunctionType(heard.__code__, original.__globals__, original.__name__, None, heard.__closure__)
        function.__kwdefaults__ = heard.__kwdefaults__
        heard = functools.update_wrapper(function, original)
    inner = getattr(original, "__original_fn", original)  # the watch listens at some losses, too
    vars(heard).update(__original_fn=inner, __script_if_tracing_wrapper=True)
    if inspect.isbuiltin(original):
        _builtins._register_builtin(heard, _builtins._find_builtin(original))
    return heard


def undisguise(heard: Callable[..., Any]) -> None:
    """Forget what torch.jit was told of a listener."""
    _builtins._get_builtin_table().pop(id(heard), None)
