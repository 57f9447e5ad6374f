"""Functions for the expressions in a program's facts, besides the program's own names."""

from collections.abc import Callable

import torch
import torch.nn.functional as F


def shifted(images: torch.Tensor) -> torch.Tensor:
    """Return (9 * n, ...) images shifted by up to a pixel each way, nine per image, padded with zeros."""
    high, wide = images.shape[-2:]
    padded = F.pad(images, (1, 1, 1, 1))
    return torch.cat([padded[..., down : down + high, right : right + wide] for down in range(3) for right in range(3)])


def each(prepare: Callable[[torch.Tensor], torch.Tensor], images: torch.Tensor) -> torch.Tensor:
    """Apply a transform to one image after another, as a Dataset does."""
    return torch.stack([prepare(image) for image in images])
