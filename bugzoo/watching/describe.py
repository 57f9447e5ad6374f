"""Describe a tensor in a few words, for reports and crash scenes."""

import torch


def describe(tensor: torch.Tensor) -> str:
    """Return text such as "(32, 64) float32", with the range of integers, and the device if it is not the CPU."""
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
