"""What does the loss ask of each answer?

The gradient of a loss for a model's outputs says what it wants, row by row, whatever the code that computes it looks like.
A cross-entropy wants one class of each row more likely and the others less, by as much as they are off: the row sums to 0,
and the weights of the rows sum to 1. A sum over columns in place of rows, a class that is not the label, the token that was
given in place of the next, all classes alike, a weight of 4 or of 32: each is a loss that computes something else.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import lengths
from bugzoo.diagnostics._tools import batches, column, model_of, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.rerun.heard import calls
from bugzoo.rerun.model import main_output
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "answers": ("answers looked at", ""),
    "row_sum": ("what a row's gradient sums to, relative to its size", "0"),
    "column_sum": ("what a column's gradient sums to, relative to its size", "well above 0"),
    "asked_label_share": ("share of answers that are asked to be their label", "1"),
    "asked_input_share": ("share of answers that are asked to be what was given there", "small"),
    "even_share": ("how well the same wish for every class explains it", "0"),
    "weight": ("weights of all answers of a step, added up", "1"),
    "beyond_share": ("share of the answers looked at that stand where their input has ended", "0"),
}
HEALTHY = example()
_LABELS = ("logits = model(inputs[rows])", "labels = targets[rows]\n        logits = model(inputs[rows])")
SICK = example(_LABELS, ("logits, targets[rows])", "logits, (labels + 1) % 3)"))

BEYOND = 0.05


class _Heard:
    """Outputs of the model and their gradients until its first step, with the whole numbers that lie about in the loop."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.model, self.pairs = model, []
        self.own, self.stepped = {id(parameter) for parameter in model.parameters()}, False
        self.labels: list[torch.Tensor] = []
        self.given: list[torch.Tensor] = []

    def forward(self, module: Any, args: Any, output: Any) -> None:
        if self.stepped or not torch.is_grad_enabled():
            return
        answers = main_output(output)
        if not answers.requires_grad or answers.ndim < 2:
            return
        self.given = [one for one in args if _whole(one)]
        self.labels = _about(answers.shape[:-1])
        kept = answers.detach().float().clone()
        answers.register_hook(lambda gradient: self.pairs.append((kept, gradient.detach().float().clone())))

    def steps(self, optimizer: Any, *_: Any) -> None:
        held = (id(parameter) for group in optimizer.param_groups for parameter in group["params"])
        self.stepped = self.stepped or not self.own.isdisjoint(held)


def _whole(thing: Any) -> bool:
    return isinstance(thing, torch.Tensor) and not thing.is_floating_point() and thing.dtype is not torch.bool


def _about(shape: tuple[int, ...]) -> list[torch.Tensor]:
    """Tensors of whole numbers, one for each answer, in the functions that called the model."""
    frame, found = sys._getframe(2), []
    while frame is not None and len(found) < 20:
        if not frame.f_code.co_filename.startswith(_TORCH):
            found += [one for one in frame.f_locals.values() if _whole(one) and tuple(one.shape) == tuple(shape)]
        frame = frame.f_back
    return found


_TORCH = str(torch.__path__[0])


def measure(run: Run) -> dict[str, Any]:
    """Of the run's first batch, before any step; shares between 0 and 1. Raises NotApplicable but for whole-number labels."""
    if any(type(optimizer).__name__ == "LBFGS" for optimizer in getattr(run.trace.live, "optimizers", [])):
        raise NotApplicable(
            "LBFGS calls backward() several times a step: the answers of a step are those of several models"
        )
    model = model_of(run, batches(run)[0])
    heard = _Heard(model)
    handles = [model.register_forward_hook(heard.forward), register_optimizer_step_post_hook(heard.steps)]
    try:
        with calls() as made:
            again(run, 1)
    finally:
        for handle in handles:
            handle.remove()
    kinds = [kind for kind, _ in made]
    if not heard.pairs:
        raise NotApplicable("no gradient of the model's output was seen")
    scale = column(run.trace.scale)
    scale = float(scale[0]) if len(scale) and math.isfinite(scale[0]) else 1.0
    whole = [_flat(answers, gradient / scale) for answers, gradient in heard.pairs]
    answers, gradient = (torch.cat([pair[which] for pair in whole]) for which in (0, 1))
    if answers.shape[1] < 2 or not torch.isfinite(gradient).all() or not gradient.any():
        raise NotApplicable("the gradient of the model's output is no row of classes")
    counted = gradient.abs().sum(1) > 0
    answers, gradient = answers[counted], gradient[counted]
    probabilities = answers.softmax(-1)
    beyond = _beyond(heard.given, counted)
    given = [one.flatten() for one in heard.given if one.numel() == len(counted)]
    labels = [one.flatten() for one in heard.labels if one.numel() == len(counted)]
    labels = [one for one in labels if not any(torch.equal(one, other) for other in given)]
    asked = gradient.argmin(1)
    numbers: dict[str, Any] = {
        "answers": float(len(answers)),
        "classes": float(answers.shape[1]),
        "passes": float(len(whole)),
        "backwards": kinds.count("backward") / max(1, kinds.count("step")),
        "row_sum": _relative(gradient, 1),
        "column_sum": _relative(gradient, 0),
        "even_share": _explained(gradient, probabilities - 1 / answers.shape[1]),
        "beyond_share": beyond,
    }
    one_hot = torch.nn.functional.one_hot(asked, answers.shape[1]).float()
    wanted = probabilities - one_hot
    each = (gradient * wanted).sum(1) / (wanted * wanted).sum(1)
    numbers["fit"] = 1 - float((gradient - each[:, None] * wanted).norm() / gradient.norm())
    numbers["weight"] = float(each.sum()) if numbers["fit"] > 0.98 else math.nan
    share_of: Callable[[torch.Tensor], float] = lambda truth: float((truth[counted] == asked).float().mean())  # noqa: E731
    numbers["asked_label_share"] = max(map(share_of, labels), default=math.nan)
    numbers["asked_input_share"] = max(map(share_of, given), default=math.nan)
    numbers["label_shift_share"] = max(
        (_shifted(one[counted], asked, answers.shape[1]) for one in labels), default=math.nan
    )
    return numbers


def _flat(answers: torch.Tensor, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows, classes) both."""
    return answers.reshape(-1, answers.shape[-1]), gradient.reshape(-1, gradient.shape[-1])


def _beyond(given: list[torch.Tensor], counted: torch.Tensor) -> float:
    """Share of the counted answers at places where the input is padding; 0 where it has none. The first one asks for the end.

    Answers may come line by line or time by time: the order in which fewer are counted there is theirs.
    """
    for tokens in given:
        if tokens.ndim == 2 and tokens.numel() == len(counted) and (ends := lengths(tokens)) is not None:
            places = torch.arange(tokens.shape[1], device=tokens.device)
            padding = (places > ends.to(tokens.device)[:, None]).to(counted.device)
            both = ((order.flatten() & counted).sum() / counted.sum().clamp(min=1) for order in (padding, padding.T))
            return min(map(float, both))
    return 0.0


def _relative(gradient: torch.Tensor, dim: int) -> float:
    """Median of |sum| over sum of |.|, along an axis."""
    size = gradient.abs().sum(dim)
    return float((gradient.sum(dim).abs()[size > 0] / size[size > 0]).median())


def _explained(gradient: torch.Tensor, direction: torch.Tensor) -> float:
    """1 where the gradient is a multiple of the direction, 0 where it has nothing of it."""
    product = float((gradient * direction).sum() / (gradient.norm() * direction.norm() + 1e-30))
    return max(0.0, product)


def _shifted(labels: torch.Tensor, asked: torch.Tensor, classes: int) -> float:
    """Share of answers whose asked class is off by the same number from the label, where that number is not 0."""
    by = (asked - labels) % classes
    commonest = by.mode().values
    return float((by == commonest).float().mean()) if int(commonest) else 0.0


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on a wish that no cross-entropy of these answers with their labels has."""
    beyond = numbers.get("beyond_share", 0.0)
    shown = pick(
        numbers,
        "row_sum",
        "column_sum",
        "asked_label_share",
        "asked_input_share",
        "even_share",
        "weight",
        "beyond_share",
    )
    text, cause = "", ""
    label, several = numbers["asked_label_share"], numbers["answers"] >= 8
    labelled = not math.isnan(label)  # a loss over distances sums to 0 down each column as well
    if several and labelled and numbers["column_sum"] < 1e-4 and numbers["row_sum"] > 5e-4:
        cause = "loss/wrong_softmax_dim"
        text = "the gradient sums to 0 down each column and not along the rows: the samples compete for each class"
    elif several and numbers["even_share"] > 0.999 and numbers["row_sum"] < 1e-3 and numbers["classes"] > 2:
        cause = "loss/log_of_softmax"
        text = "each answer is asked to make all classes equally likely, whatever its label is"
    elif several and label < 0.5 and numbers["label_shift_share"] > 0.95:
        cause = "loss/labels_off_by_one"
        text = f"{share(label)} of the answers are asked to be their label; the others to be another class, always as far off"
    elif several and numbers["asked_input_share"] > 0.95 and label < 0.95:
        cause = "loss/next_token_not_shifted"
        text = f"{share(numbers['asked_input_share'])} of the answers are asked to be the token that was given in their place"
    elif several and numbers["weight"] > 2.5:
        near = abs(numbers["weight"] / numbers["answers"] - 1) < 0.05
        cause = "loss/sum_reduction" if near else "loss/wrong_axis_reduction"
        if numbers["passes"] > 1 and abs(numbers["weight"] / numbers["passes"] - 1) < 0.05:
            # one backward pass through the sum over a sequence, token by token, is what its author wanted
            cause = "loop/accumulation_not_scaled" if numbers["backwards"] > 1 else ""
        text = f"the weights of the answers of one step add up to {numbers['weight']:.3g} (usual: 1, a mean)"
    elif several and beyond > BEYOND:
        cause = "loss/padding_counted"
        text = f"{share(beyond)} of the answers that the loss counts stand where their input has already ended"
    if cause:
        suspects = [Suspect(cause, 0.85, text)]
        if cause == "loss/sum_reduction":  # (N,) times (N, 1), summed and divided by N, is the sum as well
            suspects.append(Suspect("loss/mask_broadcast", 0.3, text))
        return Verdict("output_gradient", True, text, shown, tuple(suspects))
    text = "each answer is asked to be more like one class"
    if not math.isnan(label):
        text += f", which is its label in {share(label)}"
    return Verdict("output_gradient", False, text, shown)
