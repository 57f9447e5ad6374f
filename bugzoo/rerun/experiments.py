"""Controlled experiments: a copy of a script with a new first line that changes one thing in torch.

    Job(changed(source, "tenth_of_the_rate"))

The functions below run in that copy's own process, before its first statement. They change torch's functions and not
the script's text. So they work for trainer classes, closures and loops of other libraries too.
"""

import ast
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils.data import DataLoader, Subset

from bugzoo.errors import NotApplicable
from bugzoo.syntax import parse, source_lines

NAMES = ("tenth_of_the_rate", "clipped", "full_precision", "two_samples", "other_seed")
LIMIT = 1.0
"""The max_norm of the clipped gradients."""


def changed(source: str, experiment: str) -> str:
    """Return the changed copy. Raises NotApplicable if the first statement has no line of its own."""
    body = parse(source).body
    place = 0
    while place < len(body) and _first(body[place], place):
        place += 1
    if place == len(body):
        raise NotApplicable("the script has no statement that could be changed")
    node = body[place]
    line = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    if place and body[place - 1].end_lineno == line:
        raise NotApplicable("the script's first line has two statements")
    lines = source_lines(source, keepends=True)
    call = f"__import__({__name__!r}, fromlist=['{experiment}']).{experiment}()\n"
    return "".join([*lines[: line - 1], call, *lines[line - 1 :]])


def _first(node: ast.stmt, place: int) -> bool:
    """Return whether this is the docstring or `from __future__`, which must stay first."""
    if place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def tenth_of_the_rate() -> None:
    """Use a tenth of the learning rate at every step. A scheduler still sees its own value."""
    rates: dict[int, list[Any]] = {}

    def lower(optimizer: Any, args: Any, kwargs: Any) -> None:
        rates[id(optimizer)] = [group["lr"] for group in optimizer.param_groups]
        for group in optimizer.param_groups:
            group["lr"] = group["lr"] * 0.1

    def back(optimizer: Any, args: Any, kwargs: Any) -> None:
        for group, rate in zip(optimizer.param_groups, rates.pop(id(optimizer), []), strict=False):
            group["lr"] = rate

    register_optimizer_step_pre_hook(lower)
    register_optimizer_step_post_hook(back)


def clipped() -> None:
    """Clip the gradient norm to LIMIT before every step."""

    def clip(optimizer: Any, args: Any, kwargs: Any) -> None:
        parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        torch.nn.utils.clip_grad_norm_(parameters, LIMIT)

    register_optimizer_step_pre_hook(clip)


def full_precision() -> None:
    """Disable autocast and loss scaling."""
    for kind in (torch.autocast, torch.amp.GradScaler):
        _switched_off(kind)


def _switched_off(kind: Any) -> None:
    before: Callable[..., None] = kind.__init__

    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        before(self, *args, **kwargs)
        self._enabled = False

    kind.__init__ = made


def two_samples() -> None:
    """Make every DataLoader repeat its first two samples, with the same number of samples in total."""
    before: Callable[..., None] = DataLoader.__init__

    def made(self: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:
        if hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__") and len(dataset) > 2:
            dataset = Subset(dataset, [place % 2 for place in range(len(dataset))])
        before(self, dataset, *args, **kwargs)

    DataLoader.__init__ = made


def other_seed() -> None:
    """Add one to every seed that the script sets."""
    for room, name in ((torch, "manual_seed"), (np.random, "seed"), (random, "seed")):
        _one_higher(room, name)


def _one_higher(room: Any, name: str) -> None:
    before: Callable[..., Any] = getattr(room, name)

    def seeded(seed: Any = None, *args: Any, **kwargs: Any) -> Any:
        return before(seed + 1 if isinstance(seed, int | np.integer) else seed, *args, **kwargs)

    setattr(room, name, seeded)
