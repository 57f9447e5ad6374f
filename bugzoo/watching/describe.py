"""A tensor in a few words, as reports and crash scenes name it."""

import torch


def describe(tensor: torch.Tensor) -> str:
    """Such as "(32, 64) float32"; of whole numbers their range, and the device where it is not the CPU."""
    text = f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"
    if tensor.device.type != "cpu":
        return f"{text} on {tensor.device}"
    if (
        not tensor.is_floating_point()
        and not tensor.is_complex()
        and tensor.dtype != torch.bool
        and 0 < tensor.numel() < 10**7
    ):
        text += f", {int(tensor.min())} to {int(tensor.max())}"
    return text
