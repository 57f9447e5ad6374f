"""A curve without its noise: the mean of the last steps, of the same number of them for every run of a plot."""

import math
from collections.abc import Sequence

import numpy as np

WIDEST = 25
"""Most steps in one mean: wider ones would draw a cliff as a slope."""
SCALE = 10
"""A validation loss more than this many times beyond the training losses is on another scale."""


def window(steps: int) -> int:
    """Return how many steps one mean holds for a run of so many steps: a 24th of the run, 1 (none) below 72."""
    return min(WIDEST, steps // 24) if steps >= 72 else 1


def smoothed(values: Sequence[float] | np.ndarray, width: int) -> np.ndarray:
    """Return the mean of the last `width` finite steps up to each, shape (steps,); of fewer at the start.

    It looks back only: two runs that were equal so far have equal means, and a live curve changes no point that was
    drawn. A step that is not finite stays missing (nan), so that a curve ends where it really ended. Each mean is a sum
    of its own steps only: after a spike of 1e20, the difference of two cumulative sums would be off by its rounding.
    """
    raw = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(raw)
    if width <= 1 or not len(raw):
        return np.where(finite, raw, np.nan)
    steps, total, count = np.where(finite, raw, 0.0), np.zeros(len(raw)), np.zeros(len(raw))
    for back in range(min(width, len(raw))):  # in this order for every length: equal steps, equal means
        total[back:] += steps[: len(raw) - back]
        count[back:] += finite[: len(raw) - back]
    return np.where(finite, total / np.maximum(count, 1), np.nan)


def smoothed_note(width: int) -> str:
    """Return what follows the name of the steps' axis: what the bold lines are."""
    return "" if width <= 1 else f" (bold: mean of the last {width} steps)"


def comparable(
    curves: Sequence[Sequence[tuple[int, float]]], losses: Sequence[float]
) -> list[Sequence[tuple[int, float]]]:
    """Return the validation curves that are on the scale of the training losses.

    A training loss that is divided by something else, such as the tokens of an update, stands for another number.
    """
    finite = [number for number in losses if math.isfinite(number)]
    if not finite:
        return []
    low, high = min(finite), max(finite)
    return [some for some in curves if any(low / SCALE <= loss <= high * SCALE for _, loss in some)]
