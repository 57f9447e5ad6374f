"""What the submission's process told of its steps while it ran, what of them was kept, and what is hidden.

What was kept has to be what was told at the step, so that nothing can be written anew at the end; and a training whose steps
cannot be worked out once more, though the program's own can, is not graded.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from bugzoo.grading import reference
from bugzoo.grading.model import Check
from bugzoo.grading.once_more import gradient, loop
from bugzoo.grading.rows import sketch
from bugzoo.running import Run
from bugzoo.watching.witness import MOST_MIB, PREFIX, digest

NAME = "worked out"
FEWEST = 6
"""Steps, below which nothing is said: who calls the model twice a step, or another model, is judged by the rest."""


def told(run: Run, wanted: Sequence[int]) -> Check | None:
    """None where what came back is what the supervisor was told, step by step, while the run went on: the losses of all steps,
    and of those in `wanted` what was kept. Whoever writes his trace anew at the end has said other things before."""
    steps, losses = (np.asarray(value, dtype=np.float64).reshape(-1) for value in (run.trace.step, run.trace.loss))
    before = np.asarray(run.told, dtype=np.float64).reshape(-1, 3)
    expected = "what was told of each step when it had been made, once and in order"
    if len(before) != len(steps) or not np.array_equal(before[:, 0], steps) or not (np.diff(steps) > 0).all():
        return Check("account", "wrong", f"of {len(before)} steps was told, and {len(steps)} came back", expected)
    other = np.flatnonzero(~np.isclose(before[:, 1], losses, rtol=1e-6, atol=0, equal_nan=True))
    if len(other):
        saw = f"the losses of {len(other)} steps came back as other ones, the first at step {steps[other[0]]:.0f}"
        return Check("account", "wrong", saw, expected)
    said, kept = {int(step): text for step, text in run.kept}, steps_kept(run)
    silent = [step for step in wanted if step in set(steps.tolist()) and step not in said]
    if silent or len(said) != len(run.kept):
        saw = f"of step {silent[0] if silent else run.kept[0][0]} it was not told once what was kept"
        return Check("account", "wrong", saw, expected)
    changed = [step for step, text in said.items() if text != (digest(kept[step]) if step in kept else "")]
    if changed or kept.keys() - said.keys():
        saw = f"what was kept of step {min(changed or kept.keys() - said.keys())} is not what came back of it"
        return Check("account", "wrong", saw, expected)
    return None


def steps_kept(run: Run) -> dict[int, dict[str, np.ndarray]]:
    """Step -> name -> array of what was kept: `weights.*`, `grads.*`, inputs, targets and random state."""
    found: dict[int, dict[str, np.ndarray]] = {}
    for name, value in run.arrays.items():
        if name.startswith(f"{PREFIX}."):
            _, step, what = name.split(".", 2)
            found.setdefault(int(step), {})[what] = value
    return found


def batches(run: Run) -> list[list[Any]]:
    """[input rows, targets] of the kept steps, as `bugzoo.grading.inside` notes batches."""
    found = []
    for now in steps_kept(run).values():
        rows, targets = np.asarray(now["inputs"]), np.asarray(now.get("targets", ())).reshape(-1)
        if len(rows) == len(targets):
            floats = np.issubdtype(rows.dtype, np.floating)
            found.append([[sketch(row) for row in rows] if floats else rows.tolist(), targets.tolist()])
    return found


def unseen(run: Run, program: str, healthy: str, wanted: Sequence[int]) -> Check | None:
    """Where hardly a step that was asked for could be worked out, though the program's own can and there was room for them.

    That is a training written in a way that cannot be looked into, or one that took away what was kept.
    """
    reached = [step for step in wanted if step <= len(run.trace.step)]
    size = sum(value.nbytes for now in steps_kept(run).values() for value in now.values())
    if len(reached) < 2 * FEWEST or size > MOST_MIB * 2**20 / 2 or not _workable(healthy, program):
        return None
    shapes = [tuple(value.shape) for value in reference.space(healthy, program)["model"].state_dict().values()]
    own = sorted(tuple(value.shape) for name, value in run.arrays.items() if name.startswith("model."))
    for now in steps_kept(run).values():  # a model of another kind, such as another attention, is judged by the rest
        found = [tuple(value.shape) for name, value in now.items() if name.startswith("weights.")]
        if found != shapes and (not own or sorted(found) == own):
            return None
    saw = f"of {len(reached)} steps that were to be worked out once more hardly one can be"
    wanted_instead = (
        "a model that is called with the batch as it comes from the loader, and a step with the gradient of its loss"
    )
    return Check(NAME, "cannot be graded", saw, wanted_instead)


@lru_cache(maxsize=16)
def _workable(text: str, program: str) -> bool:
    """Can a step of the program itself be worked out, from a batch of its own?"""
    names, body = loop(text, program)
    if "train_loader" not in names:
        return False
    with reference.one_thread(), torch.random.fork_rng(devices=[]):
        pair = next(iter(names["train_loader"]), None)
        state = {name: value.clone() for name, value in names["model"].state_dict().items()}
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(x, torch.Tensor) for x in pair):
            return False
        now = {"inputs": pair[0].numpy(), "targets": pair[1].numpy(), "rng": torch.get_rng_state().numpy()}
        return gradient(dict(names), body, state, now, "") is not None
