"""Digits: the last 360 images, which the programs leave alone."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bugzoo.grading.inside import digest

PROGRAMS = ("mlp", "digits_cnn")


def held_out(space: dict[str, Any], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images as the model takes them, (360, 64) or (360, 1, 8, 8), and (360,) labels."""
    images = space["images"][1437:]
    if "normalise" in space:
        images = space["normalise"](images)
    return images.numpy(), space["labels"][1437:].numpy()


def members(space: dict[str, Any]) -> Callable[[Any, Any], bool] | None:
    """Is this (row, label) one of the training images (label None: unknown)? None where augmentation makes every row new."""
    if "augment" in space:
        return None
    train = space["train"]
    pairs = zip(space["images"][train].numpy(), space["labels"][train].tolist(), strict=True)
    known = {(digest(row), label) for row, label in pairs}
    rows = {row for row, _ in known}
    return lambda row, label: row in rows if label is None else (row, label) in known
