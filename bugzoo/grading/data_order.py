"""Are the batches of drawn steps as the healthy program's: from all of the training data, mixed and augmented as there?

The training data is cut into blocks by place. Augmented copies lie in blocks of their own (a program's facts list them one
kind after another), so a missing augmentation leaves blocks empty. Then all copies of a sample are taken together, and the
samples are cut into blocks: data that was left out leaves some empty, and batches that are not shuffled lie in one each.
Within an epoch, samples that come again are counted: a permutation has none, and drawing with replacement has many.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from bugzoo.grading import healthy_step, reference
from bugzoo.grading.evaluation.members import Members, places
from bugzoo.grading.model import Check, state_of
from bugzoo.grading.rows import sketch
from bugzoo.scenario import Scenario

BLOCKS = 9
"""As many as there are shifts by a pixel."""
BATCHES = 128
"""Healthy batches to compare with."""
SURE = 5.5
"""Standard errors by which the share of a block may differ."""
MANY, SURE_OF_MANY = 40, 4.5
"""Steps from which the share is near enough to normal for fewer."""
MIXED = 3.0
"""Times the healthy variance of the shares, from batch to batch, that a shuffled training stays below."""
SMALLER, CHANCE = 0.1, 3.0
"""Share by which a step's samples may be fewer or more, and standard errors for small last batches that come elsewhere."""
FEWEST = 8
"""Drawn steps below which nothing is said."""


def looked_up(inputs: Tensor, targets: Tensor, members: Members) -> list[int]:
    """Return the place of each sample of a batch in the training data, -1 for one that is not there with its label."""
    rows: Sequence[Any] = inputs.tolist()
    if inputs.is_floating_point():
        rows = [sketch(row.float().numpy()) for row in inputs]
    return places(rows, targets.reshape(-1).tolist(), members)


def shares(batches: Sequence[Sequence[int]], count: int, samples: int) -> np.ndarray:
    """Return (2, batches, BLOCKS) the share of each batch's known samples in each block of `count` places.

    The second is that of the `samples` whose copies these are.
    """
    rows = []
    for batch in batches:
        positions = np.asarray([place for place in batch if place >= 0])
        if len(positions):
            parts = (positions * BLOCKS // count, positions % samples * BLOCKS // samples)
            rows.append([np.bincount(part, minlength=BLOCKS) / len(positions) for part in parts])
    return np.asarray(rows).reshape(-1, 2, BLOCKS).swapaxes(0, 1)


def check(found: Mapping[int, Sequence[int]], scenario: Scenario) -> Check | None:
    """Check the batches of drawn steps: step -> the places of its samples. None if too few can be compared."""
    batches = _healthy(reference.healthy_text(scenario), scenario)
    if batches is None:
        return None
    submitted, usual = (shares(each, *_counts(scenario)) for each in (list(found.values()), batches))
    if submitted.shape[1] < FEWEST or usual.shape[1] < FEWEST:
        return None
    rows, usual_rows = _rows(found, [len(batch) for batch in batches], reference.epoch(scenario))
    chance = CHANCE * float(np.std(rows - usual_rows)) / math.sqrt(len(rows))
    if abs(rows.mean() - usual_rows.mean()) > max(SMALLER * usual_rows.mean(), chance):
        saw = f"The samples of {len(found)} drawn steps were counted. A step has {rows.mean():.1f} on average "
        saw += f"(healthy, at these steps: {usual_rows.mean():.1f})."
        return Check("order", "wrong", saw, "A step should use its whole batch.", float(rows.mean()), group="unchanged")
    checks = [_compared(share, healthy) for share, healthy in zip(submitted, usual, strict=True)]
    checks.append(_repeats(found, dict(enumerate(batches, 1)), scenario))
    return next((check for check in checks if not check.passed), checks[0])


def _repeats(found: Mapping[int, Sequence[int]], usual: Mapping[int, Sequence[int]], scenario: Scenario) -> Check:
    """Compare how often a sample comes again within an epoch; without epochs, within all of these steps."""
    samples, epoch = _counts(scenario)[1], reference.epoch(scenario)
    (again, pairs), (usually, of) = (repeats(batches, samples, epoch) for batches in (found, usual))
    likely = usually / of * pairs
    off = (again - likely) / math.sqrt(likely * (1 + pairs / of) + 1)
    saw = f"The examples of {len(found)} drawn batches were looked up in the training data. Within an epoch {again} of them "
    saw += f"come again (healthy: {likely:.0f})."
    expected = "A sample should come as often as in the program handed out."
    return Check("order", state_of(off <= SURE), saw, expected, float(again), group="unchanged")


def repeats(batches: Mapping[int, Sequence[int]], samples: int, epoch: int | None) -> tuple[int, int]:
    """Return (samples that come again within an epoch, all pairs within it) of step -> places of its samples.

    However often a sample comes, it counts once: a text has passages that come in many places.
    """
    epochs: dict[int, Counter[int]] = {}
    for step, batch in batches.items():
        positions = [place % samples for place in batch if place >= 0]
        epochs.setdefault((step - 1) // epoch if epoch else 0, Counter()).update(positions)
    again = sum(count > 1 for counts in epochs.values() for count in counts.values())
    return again, max(sum(math.comb(counts.total(), 2) for counts in epochs.values()), 1)


def _rows(found: Mapping[int, Sequence[int]], usual: Sequence[int], epoch: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples of each drawn step, ours and healthy.

    The last batch of an epoch may be small, and how many of the drawn steps are last ones is chance: sizes are compared
    at the same place of the epoch.
    """
    every = min(epoch or 1, len(usual))
    sizes = [len(batch) for batch in found.values()]
    return np.asarray(sizes), np.asarray([usual[(step - 1) % every] for step in found])


def _compared(ours: np.ndarray, usual: np.ndarray) -> Check:
    spread = np.maximum(usual.var(0, ddof=1), 1 / BLOCKS / 1000)
    off = (ours.mean(0) - usual.mean(0)) / np.sqrt(spread * (1 / len(ours) + 1 / len(usual)))
    worst = int(np.abs(off).argmax())
    mixed = float(ours.var(0, ddof=1).sum() / spread.sum())
    prefix = f"The examples of {len(ours)} drawn batches were looked up in the training data, and so were those of healthy ones. "
    expected = "They should be drawn, mixed and augmented as in the program handed out."
    if abs(off[worst]) > (SURE if len(ours) < MANY else SURE_OF_MANY):
        saw = f"{prefix}{ours.mean(0)[worst]:.0%} of them come from one of {BLOCKS} equal parts of it "
        saw += f"(healthy: {usual.mean(0)[worst]:.0%})."
        return Check("order", "wrong", saw, expected, float(abs(off[worst])), group="unchanged")
    saw = f"{prefix}They are mixed in the same way."
    if mixed > MIXED:
        saw = f"{prefix}They vary {mixed:.1f} times as much from batch to batch, as those that are not shuffled."
    return Check("order", state_of(mixed <= MIXED), saw, expected, mixed, group="unchanged")


_known: dict[str, list[list[int]] | None] = {}


def _healthy(text: str, scenario: Scenario) -> list[list[int]] | None:
    """Return the places of some healthy batches' samples, from the first step on; None if they depend on the step."""
    with reference.trusted:
        if text not in _known:
            batches = healthy_step.batches(scenario, BATCHES)
            members = reference.membership(scenario)
            _known[text] = None if batches is None else [looked_up(*batch, members) for batch in batches]
        return _known[text]


def _counts(scenario: Scenario) -> tuple[int, int]:
    """Return the number of places, and of the samples whose copies they are."""
    places = reference.membership(scenario).count
    samples = healthy_step.samples(scenario) or places
    return places, samples if places % samples == 0 else places
