"""Run a few lines of Python while their calls are listened to."""

import linecache
from collections.abc import Callable
from typing import Any

import sklearn.datasets  # noqa: F401  a package is listened to if it is loaded before the watch begins, as in a worker
import torch
import torch.nn.functional as F
import torchvision  # noqa: F401
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from bugzoo.contracts.model import Finding
from bugzoo.contracts.observe import Observer

FILE = "<a script>"


def listened(work: Callable[[], Any], **more: Any) -> tuple[list[Finding], dict[str, str]]:
    """Return (findings, what steps aside) of a function's calls."""
    findings: list[Finding] = []
    observer, undo = Observer(findings, **more), []

    def patch(place: Any, name: str, new: Any) -> None:
        undo.append((place, name, vars(place)[name] if name in vars(place) else getattr(place, name)))
        setattr(place, name, new)

    observer.install(patch)
    try:
        work()
    finally:
        for place, name, original in reversed(undo):
            setattr(place, name, original)
        observer.close()
    return findings, observer.aside


def ran(text: str, **names: Any) -> tuple[list[Finding], dict[str, str]]:
    """Return the same of a script's text. Its optimizer steps are counted."""
    steps = []
    torch.manual_seed(0)
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    space = {"torch": torch, "nn": nn, "F": F, "__name__": "script"} | names
    counting = register_optimizer_step_post_hook(lambda *_: steps.append(1))
    try:
        return listened(lambda: exec(compile(text, FILE, "exec"), space), now=lambda: len(steps) + 1)
    finally:
        counting.remove()
