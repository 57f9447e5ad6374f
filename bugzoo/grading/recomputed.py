"""Steps of a submission worked out once more on the trusted side: the same weights, batch and random numbers, our own loss.

Which steps, the submission is not told; they lie in every part of the training, some next to each other. From each comes
what its process had then (`bugzoo.watching.witness`). The reference program's own loop body makes the gradient from it, in
training mode, and it is held against the one that the submission's optimiser was given. So a repair that holds in some
epochs, in one mode, or for the backward pass and not for the step is seen wherever it does not hold.
"""

import hashlib
import random
import secrets
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.grading import reference
from bugzoo.grading.model import Check
from bugzoo.grading.once_more import gradient, loop, targets_of
from bugzoo.grading.witnessed import FEWEST, NAME, steps_kept
from bugzoo.running import Run
from bugzoo.watching.witness import MOST_CALLS

PARTS = 8
"""The training in so many parts; in each two neighbouring steps are looked at, and another."""
COSINE, FACTOR = 0.999, 1.1
"""Least cosine of the two gradients of a step; largest factor between the ratio of their lengths and that of the middle step.
A loss in another unit (a sum for a mean) has the same factor everywhere. Correct repairs differ in the seventh digit."""
AGREE = 1 / 3
"""Share of the steps that have to be the healthy program's before the others accuse, where it is not sure what is held against
what: weights of other names are taken in their order, of several calls of the model the nearest one counts, and targets that
no loss of torch's keeps are looked up."""


def secret_steps(source: str, steps: int, key: str) -> list[int]:
    """Steps from 1 to `steps`, in order: the same for the same text and key, and others for any other text."""
    dice = random.Random(hashlib.sha256(f"{key}\n{source}".encode("utf-8", "replace")).digest())
    found: set[int] = set()
    for part in range(PARTS):
        first = min(1 + part * steps // PARTS, steps)
        last = max(first, (part + 1) * steps // PARTS)
        one = dice.randint(first, last)
        found |= {one, min(one + 1, steps), dice.randint(first, last)}
    return sorted(found)


def asked(source: str, steps: int) -> dict[str, Any]:
    """Settings of the watch over a submission that makes so many steps."""
    return {"witness": secret_steps(source, steps, _key())}


def secret_seed(source: str) -> int:
    """A seed that no text can name beforehand."""
    return 1000 + int.from_bytes(hashlib.sha256(f"{_key()}\n{source}".encode("utf-8", "replace")).digest()[:3], "big")


@cache
def _key() -> str:
    """The grader's own: made once, kept where no submission's process reads."""
    path = record.folder() / "grader.key"
    try:
        if not path.is_file():
            write_atomic(path, secrets.token_hex(16))
        return path.read_text(encoding="utf-8")
    except (OSError, UserError):  # nothing can be kept here: other steps with each start
        return secrets.token_hex(16)


@dataclass(frozen=True)
class Step:
    """One step worked out again: the cosine of the two gradients, and the length of theirs over that of ours."""

    step: int
    cosine: float
    ratio: float
    sure: bool = True
    """By the names of its weights, with one call of the model, and by targets that its loss named."""


def check(run: Run, program: str, healthy: Sequence[str]) -> Check | None:
    """Are all of these steps those of one of the healthy texts? None where too few could be worked out again."""
    found = [compared(run, program, text) for text in healthy]
    found = [steps for steps in found if len(steps) >= FEWEST and _comparable(steps)]
    if not found:
        return None
    off, steps = min(((_off(steps), steps) for steps in found), key=lambda one: len(one[0]))
    expected = (
        "from the same weights and batch the gradient that the healthy program has, up to one factor for all steps"
    )
    if not off:
        saw = f"{len(steps)} steps of its training, worked out once more, gave the same gradients"
        return Check(NAME, "passed", saw, expected, 0.0)
    worst = min(off, key=lambda one: one.cosine)
    saw = (
        f"{len(off)} of {len(steps)} steps of its training, worked out once more, gave other gradients; at step {worst.step} "
        f"the cosine of the two is {worst.cosine:.3f}, and theirs is {worst.ratio:.3g} times as long"
    )
    return Check(NAME, "wrong", saw, expected, float(len(off)))


def _comparable(steps: list[Step]) -> bool:
    return all(one.sure for one in steps) or sum(one.cosine >= COSINE for one in steps) >= AGREE * len(steps)


def _off(steps: list[Step]) -> list[Step]:
    usual = statistics.median(one.ratio for one in steps)
    far = [one for one in steps if not usual / FACTOR <= one.ratio <= usual * FACTOR]
    return [one for one in steps if one.cosine < COSINE or one in far]


def compared(run: Run, program: str, text: str) -> list[Step]:
    """Every step of which the submission's process left enough, and whose weights are the reference model's by name and shape."""
    kept = steps_kept(run)
    if not kept:
        return []
    with reference.one_thread():
        return [found for step, now in sorted(kept.items()) if (found := _again(text, program, step, now))]


def _again(text: str, program: str, step: int, now: dict[str, np.ndarray]) -> Step | None:
    names, body = loop(text, program)
    model = names["model"]
    state = {
        name.removeprefix("weights."): torch.as_tensor(value)
        for name, value in now.items()
        if name.startswith("weights.")
    }
    shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    ours_of = dict(zip(state, shapes, strict=False))
    sure = state.keys() == shapes.keys()
    if sure:
        ours_of = {name: name for name in shapes}
    state = {ours_of.get(name, name): value for name, value in state.items()}
    if {name: tuple(value.shape) for name, value in state.items()} != shapes:
        return None
    if "targets" not in now:
        targets = targets_of(text, program)(np.asarray(now["inputs"]))
        if targets is None:
            return None
        now, sure = now | {"targets": targets}, False
    theirs = {name.removeprefix("grads."): value for name, value in now.items() if name.startswith("grads.")}
    theirs = {ours_of.get(name, name): value for name, value in theirs.items()}
    calls = [end for end in ("", *(f".{call}" for call in range(1, MOST_CALLS))) if f"inputs{end}" in now]
    made = [gradient(dict(names), body, state, now, end) for end in calls]
    found = [_held(step, model, theirs, ours, sure and len(calls) == 1) for ours in made if ours is not None]
    return max((one for one in found if one is not None), key=lambda one: one.cosine, default=None)


def _held(step: int, model: Any, theirs: dict[str, np.ndarray], ours: dict[str, np.ndarray], sure: bool) -> Step | None:
    """Their gradient against ours."""
    every = [name for name, _ in model.named_parameters() if name in theirs]  # what is frozen for a while has none
    if not every:
        return None
    one, two = (np.concatenate([np.ravel(side[name]) for name in every]) for side in (theirs, ours))
    if one.shape != two.shape or not np.isfinite(two).all():
        return None
    one, two = one.astype(np.float64), two.astype(np.float64)
    lengths = float(np.linalg.norm(one)), float(np.linalg.norm(two))
    if not np.isfinite(lengths[0]) or min(lengths) == 0:
        return Step(step, 0.0, 0.0, sure)
    return Step(step, float(one @ two) / (lengths[0] * lengths[1]), lengths[0] / lengths[1], sure)
