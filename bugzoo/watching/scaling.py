"""A GradScaler's factor, taken out of the losses and gradients that the trace shows."""

from typing import Any

import torch

from bugzoo.watching.table import NAN


def value_of(tensor: torch.Tensor) -> Any:
    """A float for a tensor on the CPU; elsewhere the tensor itself, to be read later without a synchronisation."""
    if tensor.numel() != 1:
        tensor = tensor.detach().float().mean()
    return tensor.detach() if tensor.is_cuda else tensor.item()


def unscaled_loss(root: torch.Tensor, scaled: Any, plain: Any, scaler: Any) -> tuple[Any, torch.Tensor]:
    """The loss without the factor: its value, and the tensor with its graph (`root` where the plain one is unknown).

    `scaled` is what `scaler.scale(plain)` gave; a script may go backward from something else that it made of it.
    """
    if scaled is root:
        return value_of(plain), plain
    value = root.detach().float()
    return value_of(value / scaler._scale.to(value.device)), root


def scale_of(scaler: Any) -> Any:
    """The factor: a float, a tensor where it lives on a device, NaN without a scaler."""
    scale = getattr(scaler, "_scale", None)  # a scaler with enabled=False has none
    if scale is None:
        return NAN
    return scale.item() if scale.device.type == "cpu" else scale.clone()


def without_scale(optimizer: Any, values: Any, norm: Any) -> tuple[Any, Any, bool] | None:
    """Norms without the factor, and whether the step is skipped; None where the gradients carry no factor.

    A fused optimiser gets scaled gradients from the GradScaler, and decides itself whether to skip.
    """
    factor = getattr(optimizer, "grad_scale", None)
    if not isinstance(factor, torch.Tensor):
        return None
    if isinstance(norm, float):
        factor = factor.item()
        values = [value / factor for value in values]
    else:
        values = values / factor.to(values.device)
    found = optimizer.found_inf
    return values, norm / factor, bool(found.item()) if found.device.type == "cpu" else False
