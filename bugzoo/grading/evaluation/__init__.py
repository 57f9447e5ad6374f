"""The grader's own data: what no submission has seen, found by what a program's facts say.

Three expressions stand in a program's `[facts]` and are worked out in the reference program's own names (its text,
vocabulary, images, functions), with `each` and `shifted` of `helpers` beside them:

    held_out    (inputs, targets) that neither training nor validation touches; random draws are the grader's
    training    what may be trained on: (inputs, targets) row by row, or one sequence of which every window may
    validation  pairs of (inputs, targets), batch by batch, that the program itself reports its metrics on
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch

from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.grading.evaluation.helpers import each, shifted
from bugzoo.grading.evaluation.members import rows, windows
from bugzoo.grading.evaluation.tasks import TASKS, Task

SHIFT = 11
"""Added to a scenario's seed for the grader's own draws."""


def task(program: str) -> Task:
    """How answers to this program's task are measured. Raises UserError for a program that cannot be graded."""
    facts = programs.load(program).facts
    missing = [name for name in ("held_out", "training", "validation") if name not in facts]
    if missing or facts["task"] not in TASKS:
        why = f"its facts do not say {', '.join(missing)}" if missing else f"its task is {facts['task']!r}"
        known = [name for name in programs.names() if "held_out" in programs.load(name).facts]
        raise UserError(
            f"The grader has no data of its own for {program} ({why}), so that no repair of it can be judged. It has for "
            f"{', '.join(known)}."
        )
    return TASKS[facts["task"]]


def held_out(space: Mapping[str, Any], program: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs as the model takes them, and their targets."""
    inputs, targets = _work_out("held_out", space, program, seed + SHIFT)
    return np.asarray(inputs), np.asarray(targets)


def members(space: Mapping[str, Any], program: str) -> Callable[[Any, Any], bool]:
    """Says whether (row of a batch, its target or None) is part of the training data."""
    found = _work_out("training", space, program, SHIFT)
    return windows(found) if isinstance(found, torch.Tensor) else rows(*found)


def validation(space: Mapping[str, Any], program: str, seed: int) -> Iterable[tuple[torch.Tensor, torch.Tensor]]:
    """The batches on which a program reports its metrics; what is drawn is drawn as the programs draw it."""
    return list(_work_out("validation", space, program, seed + 1))


def _work_out(name: str, space: Mapping[str, Any], program: str, seed: int) -> Any:
    """The value of one of the facts' expressions, under a seed of its own."""
    helping = {"each": each, "shifted": shifted}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        found = eval(programs.load(program).facts[name], helping | dict(space))
        return list(found) if name == "validation" else found
