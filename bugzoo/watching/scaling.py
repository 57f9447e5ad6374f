"""Remove a GradScaler's loss scale from the losses and gradients in the trace."""

from typing import Any

import torch

from bugzoo.watching.table import NAN


def value_of(tensor: torch.Tensor) -> Any:
    """Return a float for a tensor on the CPU, otherwise the tensor, to be read later without a host sync."""
    if tensor.numel() != 1:
        tensor = tensor.detach().float().mean()
    return tensor.detach() if tensor.is_cuda else tensor.item()


def unscaled_loss(root: torch.Tensor, scaled: Any, plain: Any, scaler: Any) -> tuple[Any, torch.Tensor]:
    """Return the unscaled loss: its value, and the tensor with its graph (`root` if the unscaled one is unknown).

    `scaled` is the result of `scaler.scale(plain)`. A script may call backward() on another tensor derived from it.
    """
    if scaled is root:
        return value_of(plain), plain
    value = root.detach().float()
    return value_of(value / scaler._scale.to(value.device)), root


def scale_of(scaler: Any) -> Any:
    """Return the loss scale: a float, a tensor if it is on a device, NaN without a scaler."""
    scale = getattr(scaler, "_scale", None)  # a scaler with enabled=False has none
    if scale is None:
        return NAN
    return scale.item() if scale.device.type == "cpu" else scale.clone()


def without_scale(optimizer: Any, values: Any, norm: Any) -> tuple[Any, Any, bool] | None:
    """Return unscaled norms, and whether the step is skipped. None if the gradients are not scaled.

    A fused optimizer gets scaled gradients from the GradScaler, and decides itself whether to skip.
    """
    factor = getattr(optimizer, "grad_scale", None)
    if not isinstance(factor, torch.Tensor):
        return None
    if isinstance(norm, float):
        factor = factor.item()
        values = [value / factor for value in values]
    else:
        values = values / factor.to(values.device)
    flag = optimizer.found_inf
    return values, norm / factor, bool(flag.item()) if flag.device.type == "cpu" else False
