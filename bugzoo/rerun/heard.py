"""Record the backward passes, optimizer steps and gradient clippings of a re-run loop body, in order."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.utils import clip_grad
from torch.optim.optimizer import register_optimizer_step_pre_hook

from bugzoo.rerun.restore import lent


@contextlib.contextmanager
def calls() -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Yield the list of calls inside it, in order: ("backward", {}), ("step", {}), ("norm" or "value", numbers).

    The numbers of a gradient clipping: `limit`, `before` (L2 norm of the given gradients, 0 without any), `after`,
    `cosine` between before and after, `touched` (share of the elements that changed).
    """
    heard: list[tuple[str, dict[str, Any]]] = []
    backward, by_norm, by_value = torch.autograd.backward, clip_grad._clip_grads_with_norm_, clip_grad.clip_grad_value_

    def listening(*args: Any, **kwargs: Any) -> Any:
        result = backward(*args, **kwargs)
        heard.append(("backward", {}))
        return result

    def norm_clipped(parameters: Any, max_norm: Any, *args: Any, **kwargs: Any) -> Any:
        return _clipped(heard, "norm", by_norm, parameters, max_norm, *args, **kwargs)

    def value_clipped(parameters: Any, clip_value: Any, *args: Any, **kwargs: Any) -> Any:
        return _clipped(heard, "value", by_value, parameters, clip_value, *args, **kwargs)

    def step(*_: Any) -> None:
        heard.append(("step", {}))

    with replaced(listening, norm_clipped, value_clipped), register_optimizer_step_pre_hook(step):
        yield heard


@contextlib.contextmanager
def replaced(backward: Any, norm_clipped: Any, value_clipped: Any) -> Iterator[None]:
    """Put other functions in the place of torch's backward() and of its two gradient clippings, for the block."""
    with (
        lent(torch.autograd, "backward", backward),
        lent(clip_grad, "_clip_grads_with_norm_", norm_clipped),
        lent(clip_grad, "clip_grad_value_", value_clipped),
        lent(torch.nn.utils, "clip_grad_value_", value_clipped),
    ):
        yield


def _clipped(heard: list[Any], kind: str, clip: Any, parameters: Any, limit: Any, *args: Any, **kwargs: Any) -> Any:
    held = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    before = _gradient(held)
    result = clip(held, limit, *args, **kwargs)
    after = _gradient(held)
    sizes = before.norm().item(), after.norm().item()
    product = sizes[0] * sizes[1]
    heard.append((kind, {
        "limit": float(limit),
        "before": sizes[0],
        "after": sizes[1],
        "cosine": (before @ after).item() / product if product > 0 else 1.0,
        "touched": (before != after).float().mean().item() if len(before) else 0.0,
    }))  # fmt: skip
    return result


def _gradient(parameters: list[torch.Tensor]) -> torch.Tensor:
    """Return all gradients as one vector (elements,) in float64, empty without gradients."""
    gradients = [p.grad.detach().double().flatten() for p in parameters if p.grad is not None]
    return torch.cat(gradients) if gradients else torch.zeros(0, dtype=torch.float64)
