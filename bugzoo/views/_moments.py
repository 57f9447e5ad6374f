"""Gradient norms of each tensor at four moments of a step: before backward(), after it, after clipping, at the step."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.utils import clip_grad
from torch.optim.optimizer import register_optimizer_step_pre_hook

from bugzoo.rerun.body import again
from bugzoo.rerun.heard import replaced
from bugzoo.running.result import Run

MOMENTS = ("before backward()", "after backward()", "after clipping", "at the step")
TIMES = 4
"""Repetitions of the loop's body on its first batch."""

Heard = list[tuple[str, list[float]]]
"""(moment, norm of each tensor's gradient, NaN without one), in order."""


def norms(run: Run, named: dict[str, torch.Tensor]) -> tuple[list[str], dict[str, list[float]]]:
    """Return (moments in the order of the last repetition, {moment: (tensors,) norms there}).

    Raises NotApplicable if the loop's body cannot be run again.
    """
    with _heard(list(named.values())) as heard:
        again(run, TIMES)
    last = max((place for place, (moment, _) in enumerate(heard) if moment == MOMENTS[3]), default=len(heard) - 1)
    first = max((place for place in range(last) if heard[place][0] == MOMENTS[3]), default=-1) + 1
    norms_at = {}
    for moment, values in heard[first : last + 1]:
        if moment != MOMENTS[0] or moment not in norms_at:  # of several backward() calls the first one begins the step
            norms_at[moment] = values
    return list(dict(heard[first : last + 1])), norms_at


@contextlib.contextmanager
def _heard(tensors: list[torch.Tensor]) -> Iterator[Heard]:
    heard: Heard = []
    backward, by_norm, by_value = torch.autograd.backward, clip_grad._clip_grads_with_norm_, clip_grad.clip_grad_value_

    def note(place: int) -> None:
        heard.append((MOMENTS[place], [math.nan if t.grad is None else float(t.grad.double().norm()) for t in tensors]))

    def backwards(*args: Any, **kwargs: Any) -> Any:
        note(0)
        result = backward(*args, **kwargs)
        note(1)
        return result

    def norm_clipped(*args: Any, **kwargs: Any) -> Any:
        result = by_norm(*args, **kwargs)
        note(2)
        return result

    def value_clipped(*args: Any, **kwargs: Any) -> Any:
        result = by_value(*args, **kwargs)
        note(2)
        return result

    with replaced(backwards, norm_clipped, value_clipped), register_optimizer_step_pre_hook(lambda *_: note(3)):
        yield heard
