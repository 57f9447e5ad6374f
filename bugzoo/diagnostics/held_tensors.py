"""What does the script keep of each step: one number, or whole outputs, each with the graph that made it?

A list that grows by one tensor a step and never forgets one holds every graph alive; `memory_audit` counts the graphs, and this
one looks at what holds them. Looked at are the script's own lists, tuples and dicts when it has ended: `held` is the number
of tensors with a graph in the one that has most of them, `numbers_each` how many numbers one of them has (the median). A loss
has one number. An output has as many as the batch has answers, and a language model's has batch x time x vocabulary. A list
may be of one step as well, the log probabilities of an episode: it accuses nobody unless graphs of several steps are `kept`.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import live, need_steps, pick
from bugzoo.diagnostics.memory_audit import WATCH, graphs
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "held": ("tensors with a graph in one list of the script", "0"),
    "numbers_each": ("numbers that one of them has", "1 where losses are kept"),
    "kept": ("graphs alive at once that neither the loop nor the watch needs", "0"),
}
HEALTHY = example()
SICK = example(
    ("for epoch", "outputs = []\nfor epoch"), ("optimizer.step()", "optimizer.step(), outputs.append(logits)")
)
MANY = 8
"""What a window of the latest steps may hold, as a running mean does."""
FEW = MANY - WATCH
"""Kept graphs that make a list of tensors a leak: with what the loop and the watch hold, as many as a window may hold."""


def _held(value: Any) -> list[torch.Tensor]:
    if isinstance(value, dict):
        value = list(value.values())
    items: Iterable[Any] = value if isinstance(value, list | tuple) else ()
    return [one for one in items if isinstance(one, torch.Tensor) and one.grad_fn is not None]


def measure(run: Run) -> dict[str, Any]:
    """Counts. Raises NotApplicable where the script's names are not there."""
    need_steps(run, 3)
    names = run.namespace or live(run).namespace
    if not names:
        raise NotApplicable("the script's names are not there any more")
    most = max((_held(value) for value in names.values()), key=len, default=[])
    each = float(np.median([one.numel() for one in most])) if most else 0.0
    return {"held": float(len(most)), "numbers_each": each, "kept": graphs(run)[1]}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when a list holds eight tensors with their graphs or more, and graphs of several steps outlived theirs."""
    shown = pick(numbers, *SHOWN)
    held, each = numbers["held"], numbers["numbers_each"]
    if held < MANY or not numbers["kept"] >= FEW:
        return Verdict("held_tensors", False, f"no list of the script holds graphs of many steps ({held:.0f})", shown)
    text = f"a list of the script holds {held:.0f} tensors, each with the graph that made it"
    if each > 1:
        text += f", and each of {each:.0f} numbers: whole outputs"
        return Verdict("held_tensors", True, text, shown, (Suspect("memory/outputs_kept", 0.95, text),))
    text += ", and each of one number: losses, or what else is one a step"
    return Verdict("held_tensors", True, text, shown, (Suspect("memory/losses_kept_with_graph", 0.9, text),))
