"""Does the loss get logits, or outputs that are already probabilities?

Cross-entropy applies log-softmax itself. Given probabilities it still falls, the ranking stays right, and accuracy may look fine.
But it cannot fall below ln(e + C - 1) - 1 (0.313 for two classes, 1.461 for ten), and gradients of confident rows vanish. Two
signs: a softmax right before the loss's own in the autograd graph, and log-probabilities of one row within 1 nat of each other.
log_softmax before cross-entropy changes nothing and is right. The same holds for sigmoid before binary cross-entropy with logits.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._lines import softmax_line
from bugzoo.diagnostics._tools import batches, column, model_of, need_steps
from bugzoo.diagnostics.conditions import Alarm, above, below, measured
from bugzoo.diagnostics.numbers import FLAG, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 0
VIEW = "outputs"
TITLE = "Inputs of the loss"
KNOWN_PROBLEMS = (
    "A false positive where nll_loss gets probabilities on purpose, to maximize the expected accuracy instead of the "
    "likelihood. "
    "It misses probabilities that are scaled, clamped or averaged before the loss, because it reads only the operation "
    "right before the loss."
)
HEALTHY = example()
SICK = example(("= model(inputs[rows])", "= model(inputs[rows]).softmax(-1)"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Losses and spread in nats, nan if unknown; `floor`: the lowest loss with a double softmax. Flags are 0 or 1."""

    row_sum: float = number("sum of a row given to the loss, last batch")
    log_prob_spread: float = number("nats between the log-probabilities of a row, last measured step")
    lowest_loss: float = number("lowest loss of a step (nats)")
    sigmoid_before_loss: float = number(hidden=FLAG)
    softmax_before_loss: float = number(hidden=FLAG)
    classes: float
    floor: float = number(hidden="it follows from the number of classes")
    log_missing: float
    model_ends_in_softmax: float | None = None
    file: str | None = None
    line: int | None = None


twice = ~below("softmax_before_loss", 1) & ~above("log_prob_spread", 1.001)

sigmoid = Alarm(
    ~below("sigmoid_before_loss", 1),
    "The numbers that the loss computes with were recorded. They all lie between 0.50 and 0.73.",
    "They should be able to reach 0 and 1.",
)
narrow = Alarm(
    twice & measured("log_prob_spread"),
    "The rows that enter the loss were recorded. Each sums to 1.00, and the loss separates its classes by at most "
    "{log_prob_spread:.2f} nats.",
    "More than {limits[log_prob_spread]:.0f} nat passes.",
)
normalised = Alarm(
    ~below("log_missing", 1) | twice,
    "The rows that enter the loss were recorded. Each sums to 1.00.",
    "The loss should be able to separate its classes by more than {limits[log_prob_spread]:.0f} nat.",
)
ALARMS = (sigmoid, narrow, normalised)


def _outputs(run: Run) -> torch.Tensor | None:
    """The model's outputs for the last batch, (..., classes); None if it cannot be called."""
    try:
        batch = batches(run)[-1]
        with quiet(model_of(run, batch)) as model:
            output = call(model, batch.args, batch.kwargs)
        usable = output.ndim >= 2 and output.shape[-1] >= 2 and torch.isfinite(output).all()
    except Exception:
        return None
    return output if usable else None


def _row_sum(run: Run) -> float:
    """Sum of the last row that entered the loss in the run; nan if it was not seen."""
    graph = run.trace.graph
    if graph.softmax_before_loss:
        return 1.0
    if sum(op.startswith("LogSoftmax") for op in graph.ops[:4]) > 1:
        return math.nan  # log-probabilities enter it, not the model's outputs
    output = _outputs(run)
    return math.nan if output is None else output.double().flatten(0, -2)[-1].sum().item()


def _outputs_are_probabilities(run: Run) -> bool | None:
    """Are rows of the model's own output non-negative, with sum 1? None if it cannot be called."""
    output = _outputs(run)
    if output is None:
        return None
    return bool((output >= 0).all() and torch.allclose(output.sum(-1), torch.ones(()).to(output.device), atol=1e-3))


def measure(run: Run) -> Numbers:
    """0/1 flags; the spread of log-probabilities and losses in nats. Raises NotApplicable without a known loss."""
    need_steps(run, 1)
    graph = run.trace.graph
    operation, ops = graph.loss_op, graph.ops
    binary = operation.startswith("BinaryCrossEntropyWithLogits")
    classes = graph.classes or 0
    if not classes and not binary and not graph.normalised:
        raise NotApplicable("the loss applies no softmax of its own" if operation else "no loss was seen")
    loss = column(run.trace.loss)
    loss = loss[np.isfinite(loss)]
    spread, before = graph.log_prob_spread, graph.softmax_before_loss
    numbers = Numbers(
        row_sum=_row_sum(run) if classes else math.nan,
        log_prob_spread=math.nan if spread is None else spread,
        lowest_loss=float(loss.min()) if len(loss) else math.nan,
        sigmoid_before_loss=0.0,
        softmax_before_loss=float(before),
        classes=float(classes),
        floor=math.log(math.e + classes - 1) - 1 if classes else math.nan,
        log_missing=float(graph.normalised),
    )
    if binary and len(ops) > 1:
        after = [
            op
            for op in ops[ops.index(operation) + 1 :]
            if not op.startswith(("View", "Squeeze", "Unsqueeze", "Reshape"))
        ]
        numbers.sigmoid_before_loss = float(bool(after) and after[0].startswith("Sigmoid"))
    if before:
        numbers.file, numbers.line = softmax_line(run) or (None, None)
        numbers.model_ends_in_softmax = float(bool(_outputs_are_probabilities(run)))
    return numbers


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on a softmax (or sigmoid) right before the loss's own."""
    spread = numbers.log_prob_spread
    suspects: tuple[Suspect, ...] = ()
    text = "softmax is applied once, by the loss"
    if not math.isnan(spread):
        text += f"; log-probabilities of one row span {spread:.3g} nats"
    if sigmoid(numbers):
        text = "a sigmoid feeds binary cross-entropy with logits, which applies another: all probabilities end up in 0.5 .. 0.73"
        suspects = (Suspect("loss/sigmoid_into_bce_with_logits", 0.9, text),)
    elif numbers.log_missing:
        text = "probabilities enter a negative log-likelihood loss, which expects log-probabilities (log_softmax)"
        suspects = (Suspect("loss/log_of_softmax", 0.85, text),)
    elif twice(numbers):
        inside = numbers.model_ends_in_softmax
        where = "the model itself ends in a softmax" if inside else "a softmax is applied to the output"
        text = (
            f"{where}, and the loss applies another; the lowest loss is {numbers.lowest_loss:.3g} and cannot fall below "
            f"{numbers.floor:.3g} with {numbers.classes:.0f} classes"
        )
        suspects = (Suspect("loss/double_softmax", 0.95, text, numbers.file, numbers.line),)
    return Verdict("double_normalisation", bool(suspects), text, numbers.labeled(), suspects)
