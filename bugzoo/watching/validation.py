"""The script's own losses without gradients: its validation, beside the training loss.

While a run is watched, torch's loss functions also note what they are given and return, unless gradients are on. Nothing
is computed again; for classes, one argmax more. A loss written by hand is not heard, nor one in a compiled function.
"""

import functools
import sys
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any

import torch
import torch.nn.functional as F

from bugzoo.watching.loop import user_frames
from bugzoo.watching.records import Validation
from bugzoo.watching.step_context import StepContext

CLASSES = ("cross_entropy", "nll_loss")
LOSSES = (*CLASSES, "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits",
    "binary_cross_entropy", "kl_div")  # fmt: skip
MOST = 8
"""How many places of the script are kept."""
Place = tuple[Any, int, Any, int]
"""The function of the script that calls the loss, the line, its caller, and the line there."""
Point = tuple[int, float]
"""(steps done, loss) of an evaluation."""


@dataclass
class _Sums:
    """Of one evaluation: losses and right answers, summed over its batches. Numbers, or tensors on a device."""

    done: int
    loss: Any = 0.0
    rows: Any = 0.0
    right: Any = 0.0
    answers: Any = 0.0


@dataclass
class Heard:
    """Listens for the losses of evaluations. `bugzoo.watching.hooks` puts `listening` in the place of each of LOSSES."""

    moment: StepContext
    found: dict[Place, list[_Sums]] = field(default_factory=dict)
    fresh: bool = False
    """Whether something was heard since `latest`."""
    closed: bool = False
    """A function that the script has stored outlives the watch."""

    def listening(self, name: str) -> Any:
        """Return torch's loss function of this name, which also notes what it computes without gradients."""
        original = getattr(F, name)

        @functools.wraps(original)
        def loss(*args: Any, **kwargs: Any) -> Any:
            value = original(*args, **kwargs)
            if torch.is_grad_enabled() or self.closed or type(value) is not torch.Tensor:  # traced: it has no number
                return value
            if self.moment.thread is None or self.moment.thread == get_ident():
                try:
                    self._note(name, value, *_read(args, kwargs))
                except Exception as error:
                    self.moment.note(error)
            return value

        # so torch.jit and torch.compile take the original in its place, as for functions under @script_if_tracing
        vars(loss).update(__original_fn=original, __script_if_tracing_wrapper=True)
        return loss

    def _note(self, name: str, value: torch.Tensor, output: torch.Tensor, target: torch.Tensor, said: Any) -> None:
        sums = self._at()
        if sums is None:
            return
        by_class = name in CLASSES and not target.is_floating_point()
        counted = target != said.get("ignore_index", -100) if by_class else None
        rows = target.numel() if counted is None else counted.sum()
        value = value.detach().double()
        sums.loss = sums.loss + (value * rows if said.get("reduction", "mean") == "mean" else value.sum())
        sums.rows = sums.rows + rows
        if counted is not None and output.ndim > 1:
            sums.right = sums.right + ((output.argmax(1) == target) & counted).sum()
            sums.answers = sums.answers + rows

    def _at(self) -> _Sums | None:
        """Return the sums of the evaluation in progress. Calls from one line, with no step between them, are one."""
        frames = user_frames(sys._getframe(3))
        here, above = next(frames, None), next(frames, None)
        if here is None:
            return None
        place = (here.f_code, here.f_lineno, above.f_code if above else None, above.f_lineno if above else 0)
        steps = self.moment.step - 1
        sums = self.found.get(place)
        if sums is None:
            if len(self.found) >= MOST:
                return None
            sums = self.found[place] = []
        if not sums or sums[-1].done != steps:
            sums.append(_Sums(steps))
        self.fresh = True
        return sums[-1]

    def latest(self) -> dict[int, Point]:
        """Return the latest point of each place, by its number; nothing if none was heard since the last call."""
        fresh, self.fresh = self.fresh, False
        ends = [some[-1] for some in self.found.values()] if fresh else []
        return {number: (sums.done, _ratio(sums.loss, sums.rows)) for number, sums in enumerate(ends)}

    def curves(self) -> list[Validation]:
        """Return one curve per place of the script, in the order in which they were first met."""
        return [
            Validation(
                place[3] if place[2] and place[0].co_name != "<module>" else place[1],
                [sums.done for sums in some],
                [_ratio(sums.loss, sums.rows) for sums in some],
                [_ratio(sums.right, sums.answers) for sums in some],
            )
            for place, some in self.found.items()
        ]


def _read(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    arguments = dict(zip(("input", "target"), args, strict=False)) | kwargs
    return arguments["input"].detach(), arguments["target"], kwargs


def _ratio(one: Any, other: Any) -> float:
    return float(one) / float(other) if float(other) else float("nan")
