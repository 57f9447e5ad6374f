"""Does the loss push each output toward its own label, with the usual weight?

The gradient of the loss at the outputs shows, row by row, what the loss asks for, whatever code computes it. A cross-entropy
makes one class of each row more likely and the others less, in proportion to the error. A row sums to 0, and the weights of
all rows sum to 1. Another loss shows as a sum over columns instead of rows, or as a weight of 4 or of 32. It may also push
toward a class that is not the label, the input token instead of the next one, or equal classes.
"""

import math
import sys
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import lengths
from bugzoo.diagnostics._tools import batches, column, model_of, share
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import FLAG, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.rerun.heard import calls
from bugzoo.rerun.model import main_output
from bugzoo.running.result import Run

COST = 1
VIEW = "outputs"
TITLE = "Gradient of the loss"
KNOWN_PROBLEMS = (
    "A false positive where labels start at 1 and the loss call itself subtracts 1, as in `criterion(logits, y - "
    "1)`. "
    "It misses later batches and classes on another axis than the last, and says nothing about LBFGS or "
    "single-column outputs."
)
HEALTHY = example()
_LABELS = ("logits = model(inputs[rows])", "labels = targets[rows]\n        logits = model(inputs[rows])")
SICK = example(_LABELS, ("logits, targets[rows])", "logits, (labels + 1) % 3)"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Shares between 0 and 1, of the first batch; a weight of 1 is that of a mean."""

    answers: float = number("outputs (rows) with a gradient in the first step")
    passes: float = number("forward passes in the first step")
    backwards: float = number("backward() calls in the first step")
    weight: float = number("sum of the weights of all outputs in the first step", (0, 2))
    asked_label_share: float = number("share of outputs pushed toward their label", (0.95, 1))
    asked_input_share: float = number("share of outputs pushed toward the input token there", (0, 0.5))
    even_share: float = number("share of the gradient toward equal probabilities", (0, 0.9))
    row_sum: float = number("sum of a row's gradient over its size", (0, 0.001))
    column_sum: float = number("sum of a class's gradient over its size", (0.001, 1.01))
    beyond_share: float = number("share of outputs after the end of their input", (0, 0.05))
    label_shift_share: float = number(hidden=FLAG)
    classes: float
    fit: float


_PUSH = "The gradient of the loss was computed for each output."
several = above("answers") & ~below("answers", 8)
has_labels = above("asked_label_share", -1)
"""Without them a loss over distances sums to 0 down each column as well."""
sums_over_samples = Alarm(
    several & has_labels & below("column_sum", 1e-4) & above("row_sum", 5e-4),
    f"{_PUSH} Its sum over the classes is {{row_sum:.2g}}, its sum over the examples {{column_sum:.2g}}.",
    "The sum over the classes should be 0, and the sum over the examples should not.",
)
even = Alarm(
    several & above("even_share", 0.999) & below("row_sum", 1e-3) & above("classes", 2),
    f"{_PUSH} Equal probabilities for all classes explain {{even_share:.1%}} of it.",
    "It should point to the label of each example.",
)
shifted_labels = Alarm(
    several & below("asked_label_share", 0.5) & above("label_shift_share", 0.95),
    f"{_PUSH} It pushes {{asked_label_share:.0%}} of the outputs to their label.",
    "At least {limits[asked_label_share]:.0%} passes; {usual[asked_label_share]} is usual.",
)
input_as_label = Alarm(
    several & above("asked_input_share", 0.95) & below("asked_label_share", 0.95),
    f"{_PUSH} It pushes {{asked_input_share:.0%}} of the outputs to the token at their own position.",
    "It should push at least {limits[asked_label_share]:.0%} of them to their label.",
)
large_weight = Alarm(
    several & above("weight", 2.5),
    f"{_PUSH} The weights of all outputs in one step add up to {{weight:.3g}}.",
    "They should add up to 1, as in a mean; up to {limits[weight]:.1f} passes.",
)
padded = Alarm(
    several & above("beyond_share", 0.05),
    f"{_PUSH} {{beyond_share:.0%}} of the outputs lie after the end of their input.",
    "At most {limits[beyond_share]:.0%} passes.",
)
ALARMS = (sums_over_samples, even, shifted_labels, input_as_label, large_weight, padded)


class _Heard:
    """Outputs of the model and their gradients until its first step, with the integer tensors of the loop."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.model, self.pairs = model, []
        self.parameters, self.stepped = {id(parameter) for parameter in model.parameters()}, False
        self.labels: list[torch.Tensor] = []
        self.inputs: list[torch.Tensor] = []

    def forward(self, module: Any, args: Any, output: Any) -> None:
        if self.stepped or not torch.is_grad_enabled():
            return
        answers = main_output(output)
        if not answers.requires_grad or answers.ndim < 2:
            return
        self.inputs = [value for value in args if _whole(value)]
        self.labels = _about(answers.shape[:-1])
        values = answers.detach().float().clone()
        answers.register_hook(lambda gradient: self.pairs.append((values, gradient.detach().float().clone())))

    def steps(self, optimizer: Any, *_: Any) -> None:
        held = (id(parameter) for group in optimizer.param_groups for parameter in group["params"])
        self.stepped = self.stepped or not self.parameters.isdisjoint(held)


def _whole(thing: Any) -> bool:
    return isinstance(thing, torch.Tensor) and not thing.is_floating_point() and thing.dtype is not torch.bool


def _about(shape: tuple[int, ...]) -> list[torch.Tensor]:
    """Integer tensors with one number per output, in the functions that called the model."""
    frame, tensors = sys._getframe(2), []
    while frame is not None and len(tensors) < 20:
        if not frame.f_code.co_filename.startswith(_TORCH):
            tensors += [item for item in frame.f_locals.values() if _whole(item) and tuple(item.shape) == tuple(shape)]
        frame = frame.f_back
    return tensors


_TORCH = str(torch.__path__[0])


def measure(run: Run) -> Numbers:
    """Of the first batch, before any step; shares between 0 and 1. Raises NotApplicable without a gradient of rows of classes."""
    if any(type(optimizer).__name__ == "LBFGS" for optimizer in getattr(run.trace.live, "optimizers", [])):
        raise NotApplicable(
            "LBFGS calls backward() several times a step: the outputs of one step come from several models"
        )
    model = model_of(run, batches(run)[0])
    heard = _Heard(model)
    handles = [model.register_forward_hook(heard.forward), register_optimizer_step_post_hook(heard.steps)]
    try:
        with calls() as recorded:
            again(run, 1)
    finally:
        for handle in handles:
            handle.remove()
    kinds = [kind for kind, _ in recorded]
    if not heard.pairs:
        raise NotApplicable("no gradient of the model's output was seen")
    scale = column(run.trace.scale)
    scale = float(scale[0]) if len(scale) and math.isfinite(scale[0]) else 1.0
    whole = [_flat(answers, gradient / scale) for answers, gradient in heard.pairs]
    answers, gradient = (torch.cat([pair[which] for pair in whole]) for which in (0, 1))
    if answers.shape[1] < 2 or not torch.isfinite(gradient).all() or not gradient.any():
        raise NotApplicable("the gradient of the output is zero, not finite, or has no rows of classes")
    counted = gradient.abs().sum(1) > 0
    answers, gradient = answers[counted], gradient[counted]
    probabilities = answers.softmax(-1)
    inputs = [tensor.flatten() for tensor in heard.inputs if tensor.numel() == len(counted)]
    labels = [tensor.flatten() for tensor in heard.labels if tensor.numel() == len(counted)]
    labels = [tensor[counted] for tensor in labels if not any(torch.equal(tensor, other) for other in inputs)]
    target, classes = gradient.argmin(1), answers.shape[1]
    direction = probabilities - torch.nn.functional.one_hot(target, classes).float()
    weights = (gradient * direction).sum(1) / (direction * direction).sum(1)
    fit = 1 - float((gradient - weights[:, None] * direction).norm() / gradient.norm())
    return Numbers(
        answers=float(len(answers)),
        classes=float(classes),
        passes=float(len(whole)),
        backwards=kinds.count("backward") / max(1, kinds.count("step")),
        row_sum=_relative(gradient, 1),
        column_sum=_relative(gradient, 0),
        even_share=_explained(gradient, probabilities - 1 / classes),
        beyond_share=_beyond(heard.inputs, counted),
        fit=fit,
        weight=float(weights.sum()) if fit > 0.98 else math.nan,
        asked_label_share=max((_equal(label, target) for label in labels), default=math.nan),
        asked_input_share=max((_equal(tensor[counted], target) for tensor in inputs), default=math.nan),
        label_shift_share=max((_shifted(label, target, classes) for label in labels), default=math.nan),
    )


def _equal(classes: torch.Tensor, target: torch.Tensor) -> float:
    return float((classes == target).float().mean())


def _flat(answers: torch.Tensor, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows, classes) both."""
    return answers.reshape(-1, answers.shape[-1]), gradient.reshape(-1, gradient.shape[-1])


def _beyond(inputs: list[torch.Tensor], counted: torch.Tensor) -> float:
    """Share of the counted outputs at padding positions; 0 without padding. The first such position predicts the end.

    Outputs may be ordered by line or by time: the order with fewer counted outputs there is used.
    """
    for tokens in inputs:
        if tokens.ndim == 2 and tokens.numel() == len(counted) and (ends := lengths(tokens)) is not None:
            places = torch.arange(tokens.shape[1], device=tokens.device)
            padding = (places > ends.to(tokens.device)[:, None]).to(counted.device)
            shares = ((order.flatten() & counted).sum() / counted.sum().clamp(min=1) for order in (padding, padding.T))
            return min(map(float, shares))
    return 0.0


def _relative(gradient: torch.Tensor, dim: int) -> float:
    """Median of |sum| over sum of |.|, along an axis."""
    size = gradient.abs().sum(dim)
    return float((gradient.sum(dim).abs()[size > 0] / size[size > 0]).median())


def _explained(gradient: torch.Tensor, direction: torch.Tensor) -> float:
    """1 where the gradient is a multiple of the direction, 0 where it has no part in it."""
    product = float((gradient * direction).sum() / (gradient.norm() * direction.norm() + 1e-30))
    return max(0.0, product)


def _shifted(labels: torch.Tensor, target: torch.Tensor, classes: int) -> float:
    """Share of outputs whose target class is off from the label by the same number, where that number is not 0."""
    by = (target - labels) % classes
    commonest = by.mode().values
    return float((by == commonest).float().mean()) if int(commonest) else 0.0


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on a gradient that a mean cross-entropy of these outputs with their labels cannot have."""
    text, cause = "", ""
    label = numbers.asked_label_share
    if sums_over_samples(numbers):
        cause = "loss/wrong_softmax_dim"
        text = "the gradient sums to 0 over each column (samples), not over each row (classes): softmax runs over the samples"
    elif even(numbers):
        cause = "loss/log_of_softmax"
        text = "the loss pushes each output toward equal probabilities of all classes (usually toward its label)"
    elif shifted_labels(numbers):
        cause = "loss/labels_off_by_one"
        text = f"the loss pushes {share(label)} of the outputs toward their label "
        text += f"(usually {Numbers.usual('asked_label_share')})"
        text += ", the others toward a class at a constant offset from it"
    elif input_as_label(numbers):
        cause = "loss/next_token_not_shifted"
        text = f"the loss pushes {share(numbers.asked_input_share)} of the outputs toward their input token "
        text += f"(usually {Numbers.usual('asked_input_share')}), not toward the next token"
    elif large_weight(numbers):
        near = abs(numbers.weight / numbers.answers - 1) < 0.05
        cause = "loss/sum_reduction" if near else "loss/wrong_axis_reduction"
        if numbers.passes > 1 and abs(numbers.weight / numbers.passes - 1) < 0.05:
            # one backward pass through the sum over a sequence, token by token, is on purpose
            cause = "loop/accumulation_not_scaled" if numbers.backwards > 1 else ""
        text = f"the weights of all outputs in one step add up to {numbers.weight:.3g} "
        text += f"(usually {Numbers.usual('weight')}; a mean has 1)"
    elif padded(numbers):
        cause = "loss/padding_counted"
        text = f"{share(numbers.beyond_share)} of the outputs in the loss are at padding positions, "
        text += f"after the end of their input (usually {Numbers.usual('beyond_share')})"
    suspects: tuple[Suspect, ...] = (Suspect(cause, 0.85, text),) if cause else ()
    if cause == "loss/sum_reduction":  # (N,) times (N, 1), summed and divided by N, is the sum as well
        suspects += (Suspect("loss/mask_broadcast", 0.3, text),)
    if not cause:
        text = "the loss pushes each output toward one class"
        text += f", and for {share(label)} of them this class is the label" if has_labels(numbers) else ""
    return Verdict("output_gradient", bool(suspects), text, numbers.labeled(), suspects)
