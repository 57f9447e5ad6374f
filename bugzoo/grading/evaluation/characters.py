"""Characters of the help texts: windows of the last tenth, which neither training nor validation touches."""

from collections.abc import Callable
from typing import Any

import numpy as np

PROGRAMS = ("mini_transformer", "amp_transformer")
WINDOWS = 300


def held_out(space: dict[str, Any], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(WINDOWS, context) characters and the ones that follow them."""
    codes, context = space["codes"].numpy(), space["context"]
    first = len(codes) * 9 // 10
    starts = np.random.default_rng(seed + 11).integers(first, len(codes) - context - 1, WINDOWS)
    windows = np.stack([codes[start : start + context + 1] for start in starts])
    return windows[:, :-1], windows[:, 1:]


def members(space: dict[str, Any]) -> Callable[[Any, Any], bool]:
    """Does this window, with the character that follows it, stand in the training text?"""
    text = bytes(space["train_codes"].tolist())
    return lambda row, after: bytes(row if after is None else [*row, after]) in text
