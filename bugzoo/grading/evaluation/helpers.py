"""What the expressions in a program's facts may call, beside the program's own names."""

import torch
import torch.nn.functional as F


def shifted(images: torch.Tensor) -> torch.Tensor:
    """(9 * n, ...) images moved by up to a pixel each way, nine after another, zeros where nothing was."""
    high, wide = images.shape[-2:]
    padded = F.pad(images, (1, 1, 1, 1))
    return torch.cat([padded[..., down : down + high, right : right + wide] for down in range(3) for right in range(3)])


def each(prepare, images: torch.Tensor) -> torch.Tensor:
    """A transform on one image after another, as a Dataset calls it."""
    return torch.stack([prepare(image) for image in images])
