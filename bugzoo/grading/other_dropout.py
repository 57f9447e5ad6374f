"""Does a gradient under other dropout belong to the healthy program's?

A repair may draw its random numbers in another order. Then a step's gradient cannot be equal to the healthy one. Here the
healthy program makes the step with several draws. The gradient has to lie about as far from their mean as they do, at
every step, and each parameter's on average; no parameter's gradient may be too long, too short or missing on average; and
it must not lie nearer than they do. Two things give a step away at once: the gradient without any dropout, and one that is
much nearer to the healthy draw of the same random numbers than other draws are, and still not equal.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from bugzoo.grading.healthy_step import HealthyStep
from bugzoo.watching.steps import Step, Tensors

DRAWS, MOST = 8, 12
"""Draws a step, and the most steps."""
EQUAL = 1e-3
"""Two draws that differ by less (relative, L2) hold no dropout."""
FAR, NEAR = 1.6, 0.6
"""Distances in units of the draws' own, root mean square: of the farthest step, and the least on average."""
SURE, LEAST = 6.0, 0.1
"""A parameter's gradient is wrong on average if it is off by so many standard errors and by such a share."""
CALM = 0.02
"""Largest relative difference from the gradient without dropout that counts as equal; draws have to differ by 5 times it."""
EACH = 1.8
"""Distance of a parameter's gradient in units of the draws' own, root mean square over the steps; right ones reach 1.3."""
NEARER = 0.3
"""Share of the distance between two draws below which the same values were dropped."""
FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


@dataclass
class Drawn:
    """What was found, step by step."""

    distance: dict[int, float] = field(default_factory=dict)
    """Distance to the mean of the draws, in units of theirs."""
    length: dict[str, list[float]] = field(default_factory=dict)
    """Parameter -> (steps,) its gradient along the mean of the draws, relative to that mean's length, minus 1."""
    usual: dict[str, list[float]] = field(default_factory=dict)
    """The same of each draw: (steps * DRAWS,)."""
    calm: list[int] = field(default_factory=list)
    """Steps whose gradient is that without dropout."""
    same: dict[int, float] = field(default_factory=dict)
    """Steps in which the healthy dropout's values are dropped: relative difference of the gradient."""
    each: dict[str, list[float]] = field(default_factory=dict)
    """Parameter -> (steps,) distance of its gradient to the mean of the draws, in units of theirs."""

    def judged(self) -> tuple[bool, str, float] | None:
        """Return (whether it passes, what was seen, a number); None if nothing was compared."""
        if not self.distance:
            return None
        if calm := len(self.calm):
            saw = f"At {calm} of {len(self.distance)} inspected steps the gradient is the one without dropout."
            return False, saw, float(calm)
        if self.same:
            step = max(self.same, key=lambda at: self.same[at])
            saw = f"At step {step} dropout drops what it drops in the healthy program, and the gradient differs by "
            return False, f"{saw}{self.same[step]:.0%}.", self.same[step]
        worst = max(self.distance, key=lambda at: self.distance[at])
        usual = sum(self.distance.values()) / len(self.distance)
        if self.distance[worst] > FAR:
            saw = f"At step {worst} the gradient lies {self.distance[worst]:.1f} times as far from the healthy mean as other "
            return False, saw + "dropout would put it.", self.distance[worst]
        for name, off in self.length.items():
            mean, spread = _mean(off), sqrt(_mean([value**2 for value in self.usual[name]]))
            error = spread * sqrt((1 + 1 / DRAWS) / len(off)) * sqrt(DRAWS / (DRAWS - 1))
            if abs(mean) > max(LEAST, SURE * error):
                return False, f"The gradient of {name} is on average {1 + mean:.0%} of the healthy one.", 1 + mean
        far = {name: sqrt(_mean([value**2 for value in off])) for name, off in self.each.items()}
        if far and far[name := max(far, key=lambda one: far[one])] > EACH:
            saw = f"The gradient of {name} lies on average {far[name]:.1f} times as far from the healthy mean as other dropout "
            return False, f"{saw}would put it.", far[name]
        if usual < NEAR:
            saw = f"The gradients are less random than with the healthy dropout: {usual:.0%} of its spread."
            return False, saw, usual
        return True, "The gradients are equal up to the order in which dropout draws.", usual


def draws(healthy: HealthyStep, step: Step, targets: list[Tensor]) -> bool:
    """Return whether the healthy program draws anything in a step, such as dropout."""
    first, other = (healthy.mean(step, targets, seed) for seed in (0, 1))
    return _distance(first, other) > EQUAL * _size(first)


def drawn(healthy: HealthyStep, steps: Sequence[tuple[Step, list[Tensor]]]) -> Drawn | None:
    """Compare some of these steps with the healthy program's draws; None if it draws nothing in a step."""
    if not steps or not draws(healthy, *steps[0]):
        return None
    comparison = Drawn()
    every = max(1, -(-len(steps) // MOST))
    for step, targets in steps[::every]:
        others = [healthy.mean(step, targets, seed) for seed in range(DRAWS)]
        _add(comparison, step, others)
        with without_dropout(healthy.model):
            calm = healthy.mean(step, targets)
        room = CALM * _size(calm)
        if _distance(step.gradients, calm) <= room and _distance(others[0], calm) > 5 * room:
            comparison.calm.append(step.number)
        gradients = healthy.mean(step, targets)
        gap = _distance(step.gradients, gradients)
        spread = sqrt(_mean([_distance(draw, gradients) ** 2 for draw in others]))
        if gap < NEARER * spread:
            comparison.same[step.number] = gap / _size(gradients)
    return comparison


@contextmanager
def without_dropout(model: nn.Module) -> Iterator[None]:
    """Context manager: within it, neither the model's layers nor torch's functions drop anything."""
    rates: list[tuple[Any, str, float]] = []
    for module in model.modules():
        name = "p" if isinstance(module, _DropoutNd) else "dropout"
        if isinstance(rate := getattr(module, name, None), float):
            rates.append((module, name, rate))
            setattr(module, name, 0.0)
    functions = {name: getattr(F, name) for name in FUNCTIONS}
    try:
        for name in FUNCTIONS:
            setattr(F, name, lambda input, *_, **__: input)
        yield
    finally:
        for name, function in functions.items():
            setattr(F, name, function)
        for module, name, rate in rates:
            setattr(module, name, rate)


def _add(found: Drawn, step: Step, others: list[Tensors]) -> None:
    mean = {name: torch.stack([draw[name] for draw in others]).mean(0) for name in others[0]}
    gradients = {name: step.gradients.get(name, torch.zeros_like(value)) for name, value in mean.items()}
    usual = sqrt(_mean([_distance(draw, mean) ** 2 for draw in others]))
    # a draw is nearer to the mean that it is part of: sqrt((n - 1) / n) for it, sqrt((n + 1) / n) for another one
    found.distance[step.number] = _distance(gradients, mean) / usual * sqrt((DRAWS - 1) / (DRAWS + 1))
    for name, middle in mean.items():
        if spread := sqrt(_mean([float((draw[name] - middle).square().sum()) for draw in others])):
            distance = float((gradients[name] - middle).norm()) / spread
            found.each.setdefault(name, []).append(distance * sqrt((DRAWS - 1) / (DRAWS + 1)))
        size = float((middle * middle).sum())
        if size > 0:
            found.length.setdefault(name, []).append(float((gradients[name] * middle).sum()) / size - 1)
            found.usual.setdefault(name, []).extend(float((draw[name] * middle).sum()) / size - 1 for draw in others)


def _distance(one: Tensors, other: Tensors) -> float:
    nothing = torch.zeros(())
    return sqrt(sum(float((one.get(name, nothing) - value).square().sum()) for name, value in other.items()))


def _size(one: Tensors) -> float:
    return sqrt(sum(float(value.square().sum()) for value in one.values()))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
