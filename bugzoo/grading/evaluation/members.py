"""Looks up a submission's training samples in the training data."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from scipy.spatial import KDTree

from bugzoo.grading.rows import sketch

NEAR = 0.01
"""Two rows are equal if their sketches differ by no more, in standard deviations of the known rows. Another order of the
same arithmetic stays a thousand times below it. A standard deviation with n instead of n - 1 moves an outlier among 300
rows by 0.0066. The nearest two digits are 0.09 apart, the nearest two patients 0.2."""


class Members(Protocol):
    """The training data. `find` returns a sample's place, from 0, or -1 for an unknown one; `count` places exist.

    The sample comes as a sketch of numbers, or as tokens; `label` is None if it is not known.
    """

    count: int

    def find(self, row: Any, label: Any) -> int: ...


def rows(inputs: torch.Tensor, targets: torch.Tensor) -> Members:
    """Return the members of a table of inputs and targets."""
    labels = np.asarray(targets, dtype=np.float64).reshape(len(targets), -1)[:, -1]
    if inputs.is_floating_point():
        return _Sketched(np.stack([sketch(row) for row in inputs.numpy()]), labels)
    return _Tokens(inputs.tolist(), labels.tolist())


def windows(text: torch.Tensor) -> Members:
    """Return the members of one long sequence: its windows, each with its next token."""
    return _Windows(bytes(text.tolist()))


class _Sketched:
    def __init__(self, known: np.ndarray, labels: np.ndarray) -> None:
        self.known, self.labels, self.count = known, labels, len(known)
        self.tree = KDTree(known)
        self.room, self.of_labels = NEAR * known.std(), NEAR * max(labels.std(), 1e-9)

    def find(self, row: Any, label: Any) -> int:
        row = np.asarray(row, dtype=np.float64)
        if not np.isfinite(row).all():
            return -1
        near = sorted(self.tree.query_ball_point(row, self.room, p=np.inf))
        if label is not None:
            near = [place for place in near if abs(self.labels[place] - float(label or 0)) <= self.of_labels]
        return near[0] if near else -1


class _Tokens:
    def __init__(self, inputs: list[list[int]], labels: list[float]) -> None:
        self.count = len(inputs)
        self.alone = {_words(row): place for place, row in enumerate(inputs)}
        samples = enumerate(zip(inputs, labels, strict=True))
        self.known = {(_words(row), label): place for place, (row, label) in samples}

    def find(self, row: Any, label: Any) -> int:
        words = _words(row)
        # the loss ignores a target below 0
        return self.alone.get(words, -1) if label is None or label < 0 else self.known.get((words, label), -1)


class _Windows:
    def __init__(self, whole: bytes) -> None:
        self.whole, self.count = whole, len(whole)

    def find(self, row: Any, label: Any) -> int:
        try:
            return self.whole.find(bytes(int(number) for number in (row if label is None else [*row, label])))
        except ValueError:  # ids that no text has
            return -1


def _words(row: list[int]) -> tuple[int, ...]:
    """Return token ids without the padding."""
    return tuple(number for number in row if number)


def places(rows: Sequence[Any], targets: Sequence[Any], members: Members) -> list[int]:
    """Return the place of each sample of a batch in the training data, -1 for an unknown one."""
    each, over = divmod(len(targets), max(len(rows), 1))
    picked = over and each  # for text lines only the words were kept, so the last target of a row is unknown
    labels = [targets[(index + 1) * each - 1] if each and not picked else None for index in range(len(rows))]
    return [members.find(row, label) for row, label in zip(rows, labels, strict=True)]


def foreign(batches: list[list[Any]], members: Members) -> tuple[int, int]:
    """Return (samples seen, samples that are not from the training data)."""
    samples = [place for rows, targets in batches for place in places(rows, targets, members)]
    return len(samples), sum(place < 0 for place in samples)
