"""torch.func: `grad`, `grad_and_value` and `vjp` wrap the tensors that they differentiate, and call `torch.autograd.grad`.

A wrapped tensor is one only while torch.func runs. So the watch looks at the tensors inside, outside of torch.func.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn
from torch._C import _functorch  # pyright: ignore[reportAttributeAccessIssue]
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack


def running() -> bool:
    """Return whether this is called from within a function that torch.func differentiates or maps."""
    return _functorch.peek_interpreter_stack() is not None


def outside() -> AbstractContextManager[Any]:
    """Context manager: within it, new tensors are plain ones."""
    return temporarily_clear_interpreter_stack() if running() else nullcontext()


def wrapped(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and _functorch.is_functorch_wrapped_tensor(value)


def unwrapped(value: Any) -> Any:
    """Return the tensor inside; anything else as it is. One that `vmap` maps over has one dimension more inside."""
    while wrapped(value):
        value = _functorch.get_unwrapped(value)
    return value


def parameters_behind(inputs: Iterable[Any], models: Iterable[nn.Module]) -> list[nn.Parameter | None] | None:
    """Return the parameter of `models` whose memory each input has, None for one without; None if none has any."""
    parameters = {p.data_ptr(): p for model in models for p in model.parameters() if p.requires_grad}
    matches = [parameters.get(unwrapped(value).data_ptr()) for value in inputs]
    return matches if any(match is not None for match in matches) else None
