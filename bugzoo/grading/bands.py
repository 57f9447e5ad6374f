"""The healthy band of metric and loss on unseen data: on one seed, and as a mean over several."""

import math
from collections.abc import Sequence

import numpy as np

from bugzoo.grading.baseline import Baseline
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.tasks import Score, TaskKind
from bugzoo.grading.model import Check, state_of

WIDE = 2.0
"""Tolerance on one of several seeds, in units of the tolerance of the mean. A healthy program that draws its random
numbers in another order misses the narrow band on one seed in ten or twenty. With three seeds that is too often."""


def band(twins: Sequence[Baseline], kind: TaskKind, wide: float) -> tuple[float, float]:
    """Return (least value of the metric, largest loss)."""
    value, loss = np.mean([twin.value for twin in twins]), np.mean([twin.loss for twin in twins])
    highest = (1 + wide * (kind.loss_factor - 1)) * float(loss) + wide * kind.loss_plus
    return float(value) - wide * kind.room, highest


def inside(score: Score, twin: Baseline, kind: TaskKind, wide: float) -> bool:
    """Return whether metric and loss are inside the healthy band."""
    floor, ceiling = band((twin,), kind, wide)
    return score.value >= floor and math.isfinite(score.loss) and score.loss <= ceiling


def in_band(
    value: float, loss: float, twins: Sequence[Baseline], kind: TaskKind, wide: float, group: str = "new_data"
) -> list[Check]:
    """Check metric and loss on held-out data; in the group "every_run" they are means over several seeds."""
    floor, ceiling = band(twins, kind, wide)
    usual, usual_loss = (float(np.mean([getattr(twin, key) for twin in twins])) for key in ("value", "loss"))
    sentence = "The trained model was tested on examples that the program never uses."
    if group == "every_run":
        sentence = f"The program was trained with {len(twins)} seeds, and each model was tested on new examples."
    mean = " is on average" if group == "every_run" else " is"
    saw = f"{sentence} The {kind.metric}{mean} {value:.3f} (healthy: {usual:.3f})."
    saw_loss = f"{sentence} The loss{mean} {loss:.3f} {kind.unit} (healthy: {usual_loss:.3f})."
    least, most = f"At least {floor:.3f} passes.", f"At most {ceiling:.3f} passes."
    metric = Check(kind.metric, state_of(value >= floor), saw, least, value, group=group)
    return [metric, Check("loss", state_of(loss <= ceiling), saw_loss, most, loss, group=group)]


def on_average(seeds: Sequence[list[Check]], twins: Sequence[Baseline], program: str, room: float = 1.0) -> list[Check]:
    """Check metric and loss as means over the seeds; returns nothing if a seed lacks them."""
    kind = task(program)
    scores = [{check.name: check.number or 0.0 for check in checks if check.number is not None} for checks in seeds]
    if not all(isinstance(score.get(name), float) for score in scores for name in (kind.metric, "loss")):
        return []
    value, loss = (float(np.mean([score[name] for score in scores])) for name in (kind.metric, "loss"))
    return in_band(value, loss, twins, kind, room, "every_run")
