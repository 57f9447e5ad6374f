"""The grader's own data, which no submission has seen, from a program's facts.

A program's `[facts]` hold three expressions. They are evaluated with the reference program's own names (its text,
vocabulary, images, functions) and with `each` and `shifted` from `helpers`:

    held_out    (inputs, targets) that neither training nor validation touches; random draws are the grader's
    training    the allowed training data: (inputs, targets) row by row, or one sequence with all its windows
    validation  pairs of (inputs, targets), batch by batch, on which the program reports its metrics
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch

from bugzoo import programs, withheld
from bugzoo.errors import UserError
from bugzoo.grading import salt
from bugzoo.grading.evaluation.helpers import each, shifted
from bugzoo.grading.evaluation.members import Members, rows, windows
from bugzoo.grading.evaluation.tasks import TASKS, TaskKind

SHIFT = 11
"""Added to a scenario's seed for the grader's own draws, and the salt's number on top (`bugzoo.grading.salt`)."""
LINES = 400
"""Lines at the end of a program's own list `lines` that it holds out."""


def task(program: str) -> TaskKind:
    """Return how this program's task is measured. Raises UserError for a program that cannot be graded."""
    facts = programs.load(program).facts
    missing = [name for name in ("held_out", "training", "validation") if name not in facts]
    if missing or facts["task"] not in TASKS:
        why = f"its facts do not say {', '.join(missing)}" if missing else f"its task is {facts['task']!r}"
        gradable = [name for name in programs.names() if "held_out" in programs.load(name).facts]
        problem = f"The grader has no held-out data for {program} ({why}), so it cannot grade a repair."
        raise UserError(f"{problem} Choose one of {', '.join(gradable)}.")
    return TASKS[facts["task"]]


def held_out(space: Mapping[str, Any], program: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs for the model, and their targets. Draws depend on the salt, also those that name the seed."""
    more = salt.number()
    salted = {**space, "seed": space["seed"] + more} if more else space
    inputs, targets = _work_out("held_out", salted, program, seed + SHIFT + more)
    return np.asarray(inputs), np.asarray(targets)


def unseen(space: Mapping[str, Any]) -> dict[str, str]:
    """Return what `Job.withheld` says besides for a program that holds out lines from all over Python's help texts."""
    lines = space.get("lines")
    return withheld.without_lines(lines, lines[-LINES:]) if lines else {}


def members(space: Mapping[str, Any], program: str) -> Members:
    """Return the training data, in which samples can be looked up."""
    training = _work_out("training", space, program, SHIFT)
    return windows(training) if isinstance(training, torch.Tensor) else rows(*training)


def validation(space: Mapping[str, Any], program: str, seed: int) -> Iterable[tuple[torch.Tensor, torch.Tensor]]:
    """Return the batches on which a program reports its metrics, with random numbers drawn as in the programs."""
    return list(_work_out("validation", space, program, seed + 1))


def _work_out(name: str, space: Mapping[str, Any], program: str, seed: int) -> Any:
    """Return the value of one of the facts' expressions, under its own seed."""
    helping = {"each": each, "shifted": shifted}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        value = eval(programs.load(program).facts[name], helping | dict(space))
        return list(value) if name == "validation" else value
