"""Kinds of task: which numbers measure a model, and how far from the healthy twin's they may be.

The tolerance comes from measurements. A healthy program that draws its random numbers in another order must pass: it is
five times the standard deviation of a mean of three seeds. A program that learns a third more slowly must fail. It is for
the mean over the seeds; one seed of several gets twice as much (`checks.WIDE`).

- Classification, by accuracy and cross-entropy (nats). A reseeded twin's accuracy deviates by 0.01 to 0.02.
- Language models, by the same two, at every position of every window.
- Word models, by the same two, for every word: positions after the end of a line have a target below 0 and are ignored.
  On `word_lines` a reseeded twin's loss deviates by 0.03 around 4.0, so the mean of three seeds by 0.02; its accuracy by
  0.015 around 0.23. The loss may be 3 % above the twin's. Without warm-up it ends 10 % above.
- Regression, by r2 (1 - squared error / variance: higher is better, predicting the mean gives 0) and mean squared error
  (lower is better). On `regression_mlp` a reseeded twin's r2 deviates by 0.012 to 0.016 around 0.55, its error by
  0.013 to 0.018 around 0.50, so the mean of three seeds by 0.009. r2 may be 0.04 below the twin's, and the error 10 % plus
  0.02 above it. A third of the learning rate ends at 0.41, gradients that are never cleared at 0.24.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F


@dataclass(frozen=True)
class Score:
    """The score of outputs: `value` of the task's metric, `loss` in its unit; `answers` as float32."""

    value: float
    loss: float
    answers: np.ndarray


@dataclass(frozen=True)
class TaskKind:
    """A kind of task. `metric` is higher for better answers; the loss is lower."""

    metric: str
    unit: str
    """Unit of the loss, as printed."""
    reported: dict[str, float]
    """How far a program's reported metric may be from that of its weights on its validation data."""
    room: float = 0.04
    loss_factor: float = 1.2
    loss_plus: float = 0.05

    def measure(self, answers: object, targets: np.ndarray) -> Score:
        """Return accuracy and cross-entropy of (n, classes) or (n, time, classes) logits, over all targets >= 0."""
        logits = torch.as_tensor(np.asarray(answers)).float()
        flat, right = logits.flatten(0, -2), torch.as_tensor(targets).reshape(-1)
        if len(flat) != len(right) or not torch.isfinite(flat).all():
            return Score(0.0, math.nan, logits.numpy())
        flat, right = flat[right >= 0], right[right >= 0]
        loss = F.cross_entropy(flat, right).item()
        return Score((flat.argmax(-1) == right).float().mean().item(), loss, logits.numpy())

    def chance(self, targets: np.ndarray) -> float:
        """Return the metric of a constant prediction."""
        counted = targets[targets >= 0]
        return float(np.unique(counted, return_counts=True)[1].max() / counted.size)

    def difference(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the largest difference of log-probabilities, ignoring a constant per row; infinity for other shapes."""
        if one.shape != other.shape or not np.isfinite(other).all():
            return math.inf
        return float(np.abs(_log_softmax(one) - _log_softmax(other)).max())

    def agreement(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the share of equal predicted classes; works for probabilities and logits."""
        if one.shape != other.shape or not np.isfinite(other).all():
            return 0.0
        return float((one.argmax(-1) == other.argmax(-1)).mean())

    def of_control(self, answers: np.ndarray, targets: np.ndarray) -> float:
        """Return the metric of a model with shuffled weights (`inside`), from its predicted classes."""
        flat = targets.reshape(-1)
        return float((answers.reshape(-1) == flat)[flat >= 0].mean())


@dataclass(frozen=True)
class Regression(TaskKind):
    """Regression: outputs are numbers, (n,) or (n, 1)."""

    same: float = 0.05
    """Standard deviations of the targets within which two predictions are equal."""

    def measure(self, answers: object, targets: np.ndarray) -> Score:
        predictions = np.asarray(answers, dtype=np.float32)
        if predictions.size != targets.size or not np.isfinite(predictions).all():
            return Score(0.0, math.nan, predictions)
        error = float(((predictions.reshape(-1) - targets.reshape(-1)) ** 2).mean())
        return Score(1 - error / float(targets.var()), error, predictions)

    def chance(self, targets: np.ndarray) -> float:
        return 0.0

    def difference(self, one: np.ndarray, other: np.ndarray) -> float:
        if one.size != other.size or not np.isfinite(other).all():
            return math.inf
        return float(np.abs(one.reshape(-1) - other.reshape(-1)).max())

    def agreement(self, one: np.ndarray, other: np.ndarray) -> float:
        if one.size != other.size or not np.isfinite(other).all():
            return 0.0
        return float((np.abs(one.reshape(-1) - other.reshape(-1)) <= self.same * one.std()).mean())

    def of_control(self, answers: np.ndarray, targets: np.ndarray) -> float:
        return self.measure(answers, targets).value


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    top = logits - logits.max(-1, keepdims=True)
    return top - np.log(np.exp(top).sum(-1, keepdims=True))


TASKS: dict[str, TaskKind] = {
    "classification": TaskKind("accuracy", "nats", {"accuracy": 0.01}),
    "language_model": TaskKind(
        "accuracy", "nats", {"accuracy": 0.02, "loss": 0.06}
    ),  # another draw gives other numbers
    "word_model": TaskKind("accuracy", "nats", {"accuracy": 0.01, "loss": 0.02}, loss_factor=1.03, loss_plus=0.0),
    "regression": Regression("r2", "squared deviations", {"r2": 0.02, "loss": 0.02}, loss_factor=1.1, loss_plus=0.02),
}
"""By the `task` of a program's facts."""
