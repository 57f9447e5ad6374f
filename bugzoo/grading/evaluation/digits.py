"""Digits: the last 360 images, which the programs leave alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch.nn.functional as F

from bugzoo.grading.rows import digest

PROGRAMS = ("mlp", "digits_cnn")


def held_out(space: dict[str, Any], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images as the model takes them, (360, 64) or (360, 1, 8, 8), and (360,) labels."""
    images = space["images"][1437:]
    if "normalise" in space:
        images = space["normalise"](images)
    return images.numpy(), space["labels"][1437:].numpy()


def members(space: dict[str, Any]) -> Callable[[Any, Any], bool]:
    """Is this (row, label) one of the training images (label None: unknown), where they are augmented moved by a pixel?"""
    train = space["train"]
    images, moves = space["images"][train], [(0, 0)]
    if "augment" in space:
        images, moves = F.pad(images, (1, 1, 1, 1)), [(down, right) for down in range(3) for right in range(3)]
    known = set()
    for down, right in moves:
        rows = images[..., down : down + 8, right : right + 8] if "augment" in space else images
        if "normalise" in space:
            rows = space["normalise"](rows)
        known |= {
            (digest(row), label) for row, label in zip(rows.numpy(), space["labels"][train].tolist(), strict=True)
        }
    alone = {row for row, _ in known}
    return lambda row, label: row in alone if label is None else (row, label) in known
