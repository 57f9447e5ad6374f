"""Checks whether a submission's training samples are part of the training data."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from bugzoo.grading.rows import sketch

NEAR = 0.01
"""Two rows are equal if their sketches differ by no more, in standard deviations of the known rows. Another order of the
same arithmetic stays a thousand times below it. A standard deviation with n instead of n - 1 moves an outlier among 300
rows by 0.0066. The nearest two digits are 0.09 apart, the nearest two patients 0.2."""


def rows(inputs: torch.Tensor, targets: torch.Tensor) -> Callable[[Any, Any], bool]:
    """Return the test for a table of inputs and targets. Numbers come as sketches, tokens as they are."""
    labels = np.asarray(targets, dtype=np.float64).reshape(len(targets), -1)[:, -1]
    if inputs.is_floating_point():
        return _sketched(np.stack([sketch(row) for row in inputs.numpy()]), labels)
    known = {(_words(row), label) for row, label in zip(inputs.tolist(), labels.tolist(), strict=True)}
    alone = {row for row, _ in known}
    # the loss ignores a target below 0
    return lambda row, label: _words(row) in alone if label is None or label < 0 else (_words(row), label) in known


def _sketched(known: np.ndarray, labels: np.ndarray) -> Callable[[Any, Any], bool]:
    room, of_labels = NEAR * known.std(), NEAR * max(labels.std(), 1e-9)

    def member(row: Any, label: Any) -> bool:
        near = np.abs(known - np.asarray(row, dtype=np.float64)).max(1) <= room
        return bool((near & (label is None or np.abs(labels - float(label or 0)) <= of_labels)).any())

    return member


def _words(row: list[int]) -> tuple[int, ...]:
    """Return token ids without the padding."""
    return tuple(number for number in row if number)


def windows(text: torch.Tensor) -> Callable[[Any, Any], bool]:
    """Return the test for one long sequence: does it contain this window with its next token?"""
    whole = bytes(text.tolist())

    def member(row: Any, after: Any) -> bool:
        try:
            return bytes(int(number) for number in (row if after is None else [*row, after])) in whole
        except ValueError:  # ids that no text has
            return False

    return member
