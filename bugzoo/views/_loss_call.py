"""The call of the loss function in the first step: what it is given, its targets, and the gradients of its backward().

The script's own loop body runs once more, on its first batch and from the initial weights.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from bugzoo.diagnostics._tools import column
from bugzoo.rerun.body import again
from bugzoo.rerun.model import main_output
from bugzoo.rerun.restore import lent
from bugzoo.running.result import Run
from bugzoo.watching.graph import LOSSES, nodes

CLASSES = ("cross_entropy", "nll_loss")
"""Loss functions that take one row of classes a target."""
LOGITS = (*CLASSES, "binary_cross_entropy_with_logits", "multilabel_soft_margin_loss", "soft_margin_loss")
"""Loss functions that take logits or log-probabilities, some of which are below zero."""
FUNCTIONS = (
    *LOGITS, "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "kl_div",
    "poisson_nll_loss", "gaussian_nll_loss", "multi_margin_loss", "multilabel_margin_loss",
)  # fmt: skip
_BY_NODE = {
    "MseLoss": "mse_loss", "L1Loss": "l1_loss", "SmoothL1Loss": "smooth_l1_loss", "HuberLoss": "huber_loss",
    "BinaryCrossEntropyWithLogits": "binary_cross_entropy_with_logits", "BinaryCrossEntropy": "binary_cross_entropy",
}  # fmt: skip


@dataclass
class LossCall:
    """The first loss call of the step; empty parts were not seen. Gradients are divided by the loss scale."""

    function: str = ""
    given: torch.Tensor | None = None
    target: torch.Tensor | None = None
    given_gradient: torch.Tensor | None = None
    output: torch.Tensor | None = None
    """What the model put out in the same step."""
    output_gradient: torch.Tensor | None = None
    reduced: int | None = None
    """How many numbers the mean or sum nearest to backward() takes."""
    heard: set[str] = field(default_factory=set)

    @property
    def binary(self) -> bool:
        """Is a target a class or the share of one, not a value that the output is compared with?"""
        return not self.function or self.function in (*LOGITS, "binary_cross_entropy", "kl_div")

    def hear(self, tensor: torch.Tensor, place: str) -> None:
        """Keep the gradient that the first backward() brings to `tensor`."""

        def note(gradient: torch.Tensor) -> None:
            if place not in self.heard:
                self.heard.add(place)
                setattr(self, place, gradient.detach().float().clone())

        tensor.register_hook(note)


class _Listener(TorchFunctionMode):
    """Notes the first loss function that is called with a graph."""

    def __init__(self, call: LossCall) -> None:
        super().__init__()
        self.call = call

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.call.given is None and getattr(func, "__name__", "") in FUNCTIONS:
            loss_input = args[0] if args else kwargs.get("input")
            target = args[1] if len(args) > 1 else kwargs.get("target")
            if isinstance(loss_input, torch.Tensor) and loss_input.requires_grad and torch.is_grad_enabled():
                self.call.function, self.call.given = func.__name__, loss_input.detach().float().clone()
                self.call.target = target.detach().clone() if isinstance(target, torch.Tensor) else None
                self.call.hear(loss_input, "given_gradient")
        return func(*args, **kwargs)


def first(run: Run, model: torch.nn.Module) -> LossCall:
    """Repeat the first step. Raises NotApplicable if the loop's body cannot be run again."""
    call = LossCall()
    with _heard(call, model), _Listener(call):
        again(run, 1)
    scale = column(run.trace.scale)
    scale = float(scale[0]) if len(scale) and math.isfinite(scale[0]) else 1.0
    for place in ("given_gradient", "output_gradient"):
        if (gradient := getattr(call, place)) is not None:
            setattr(call, place, gradient / scale)
    return call


def from_trace(run: Run) -> LossCall:
    """Return a call without tensors, for a step that cannot be repeated: its function, by the node of the graph."""
    node, classes = run.trace.graph.loss_op or "", run.trace.graph.classes
    if node.startswith("NllLoss"):
        return LossCall("cross_entropy" if classes else "nll_loss")
    return LossCall(next((name for start, name in _BY_NODE.items() if node.startswith(start)), ""))


@contextlib.contextmanager
def _heard(call: LossCall, model: torch.nn.Module) -> Iterator[None]:
    """Note the output of the first forward pass with a graph, and the reduction at the first backward()."""
    backward = torch.autograd.backward

    def forward(_: Any, args: Any, output: Any) -> None:
        answers = main_output(output)
        if call.output is None and torch.is_grad_enabled() and answers.requires_grad:
            call.output = answers.detach().float().clone()
            call.hear(answers, "output_gradient")

    def backwards(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if call.reduced is None and isinstance(tensors, torch.Tensor):
            call.reduced = _reduced(tensors)
        return backward(tensors, *args, **kwargs)

    with model.register_forward_hook(forward), lent(torch.autograd, "backward", backwards):
        yield


def _reduced(loss: torch.Tensor) -> int | None:
    """Return the number of elements that the node nearest to the loss reduces; None if no such node was found."""
    for node in nodes(loss.grad_fn) if loss.grad_fn is not None else ():
        if node.name().startswith(LOSSES):
            taken = getattr(node, "_saved_target", None)
            return taken.numel() if isinstance(taken, torch.Tensor) else None
        if node.name().startswith(("MeanBackward", "SumBackward")):
            sizes = getattr(node, "_saved_self_sym_sizes", None)
            return math.prod(sizes) if sizes is not None else None
    return None
