"""Lesson 06: what a program's loss is given, losses as functions of one logit, and what a fault costs in accuracy."""

import contextlib
import io
import math
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bugzoo import device
from bugzoo.plots import loss_by_logit, slope
from bugzoo.scenario import Scenario

Call = tuple[Tensor, Tensor]
"""What a binary loss is given, and the labels, both (batch,)."""

WAYS: dict[str, Callable[[Tensor], Tensor]] = {
    "healthy": lambda gap: F.softplus(-gap),
    "rival": lambda gap: F.softplus(1 - 2 * gap.sigmoid()),
    "incident, a yes": lambda gap: F.softplus(-gap.sigmoid()),
    "incident, a no": lambda gap: F.softplus((-gap).sigmoid()),
}
"""Losses of one review over the gap between its correct class and the other; the rival has a softmax too many."""

_LOOP = "for inputs, targets in train_loader:"


def calls(text: str) -> list[Call]:
    """Run a program's text; return what its binary loss was given in each step, and the labels."""
    heard: list[Call] = []
    loss = F.binary_cross_entropy_with_logits

    def record(values: Tensor, labels: Tensor, **options: Any) -> Tensor:
        heard.append((values.detach(), labels))
        return loss(values, labels, **options)

    with mock.patch.object(F, "binary_cross_entropy_with_logits", record), contextlib.redirect_stdout(io.StringIO()):
        exec(text, {"__name__": "copy"})
    return heard


def repeat_batch(scenario: Scenario, steps: int = 300) -> Call:
    """Train a program on its first batch again and again; return what its loss is given in the last step, and the labels."""
    settings = {**scenario.settings, "epochs": 1}
    text = Scenario(scenario.program, scenario.faults, settings, device=device.used()).source
    return calls(text.replace(_LOOP, f"for inputs, targets in [next(iter(train_loader))] * {steps}:"))[-1]


def slopes(places: Sequence[float]) -> dict[str, np.ndarray]:
    """Return the size of the slope of each of `WAYS` at these gaps."""
    return {name: abs(slope.measure(way, np.asarray(places))[1]) for name, way in WAYS.items()}


def log_of_softmax(logits: Tensor, targets: Tensor) -> Tensor:
    """Return cross-entropy (nats) as the logarithm of a softmax, which underflows."""
    return -logits.softmax(1).log()[torch.arange(len(targets)), targets].mean()


def ways_of(classes: int) -> dict[str, Callable[[Tensor], Tensor]]:
    """Return the loss of one row over the logit of its correct class, the others at 0: healthy, and softmax twice."""

    def rows(x: Tensor) -> Tensor:
        return torch.cat([x.unsqueeze(1), x.new_zeros(len(x), classes - 1)], 1)

    return {
        "healthy": lambda x: -rows(x).log_softmax(1)[:, 0],
        "rival": lambda x: -rows(x).softmax(1).log_softmax(1)[:, 0],
    }


def squeezed(classes: int, surer: float) -> Any:
    """Draw loss and slope of a row whose correct class is `surer` below all others, healthy and with a softmax too many."""
    ways = ways_of(classes)
    for name, way in ways.items():
        values, steep = slope.measure(way, np.array([-surer]))
        print(f"{name:8} loss {values[0]:7.3f}   slope {abs(steep[0]):.6f}")
    print(f"{classes} classes: a guess {math.log(classes):.3f}, floor {math.log(math.e + classes - 1) - 1:.3f}")
    return loss_by_logit.picture(ways, end=14.0, mark=-surer)


def slope_twice(classes: int, surer: float) -> float:
    """Return the size of the slope of a row whose correct class is `surer` below all others, with a softmax too many."""
    return float(abs(slope.measure(ways_of(classes)["rival"], np.array([-surer]))[1][0]))


def mean_accuracies(program: str, fault: str, seeds: int = 3) -> tuple[float, float]:
    """Return a program's validation accuracy, with a fault and without, each a mean over seeds."""
    runs = [
        [Scenario(program, faults, seed=seed, device=device.used()).run().trace for faults in ((fault,), ())]
        for seed in range(seeds)
    ]
    ill, well = (sum(pair[side].metrics["accuracy"] for pair in runs) / seeds for side in (0, 1))
    return ill, well
