"""Do the model's outputs depend on its inputs at all?

The last kept batch goes through the model again in eval mode: as it was, with each sample given another's target, and with zeros
as inputs. A model that has learned from its inputs has a higher loss both times. `moved` is the distance between the outputs of
two samples (nats for classes, else in standard deviations of the targets). If it is about 0 although the samples differ, all
samples get one output, and the model learns only how often each target comes. Samples that are all alike before they enter the
model lost their differences earlier.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import batches, model_of, need_steps
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import ANY, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.loss import again
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
VIEW = "influence"
TITLE = "Outputs for different examples"
KNOWN_PROBLEMS = (
    "A false positive early in a regression on very large, unscaled targets: beside their spread, the outputs of two "
    "samples hardly differ. "
    "It misses a model that almost ignores its inputs, and says nothing below 20 steps, below four samples or "
    "without saved targets."
)
HEALTHY = example()
SICK = example(("nn.ReLU()", "nn.Threshold(1e3, 0.0)"))
STEPS, ROWS = 20, 4
"""With fewer optimizer steps or samples nothing is measured."""
SAME, WORSE = 1e-3, 0.01
"""Samples that are closer are alike. A loss that rises by a smaller share has not risen."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Losses in nats, or in the loss's own unit; nan if they cannot be computed again."""

    input_spread: float = number("distance between two samples, over their size", (0.001, ANY))
    moved: float = number("distance between the outputs of two samples", (0.0001, ANY))
    loss: float = number("loss on the last kept batch")
    dealt_loss: float = number("loss with samples paired with other targets", "above the loss on the batch")
    zero_loss: float = number("loss with zeros as inputs", "above the loss on the batch")


equal_outputs = Alarm(
    ~above("moved", 1e-5),
    "Different examples were passed to the model. Their outputs differ by {moved:.1g}.",
    "More than {limits[moved]:.5f} passes.",
)
"""Outputs of a language model that has hardly begun differ by 5e-4."""
ALARMS = (equal_outputs,)


def _loss(model: torch.nn.Module, batch: Any, arguments: tuple[Any, Any], operation: str) -> float:
    """The script's kind of loss with other arguments; nan if it cannot be computed again."""
    changed = type(batch)(batch.step, *arguments, batch.targets, batch.loss, batch.module)
    try:
        torch.manual_seed(0)
        return float(again(model, changed, operation))
    except (NotApplicable, RuntimeError, IndexError):
        return math.nan


def measure(run: Run) -> Numbers:
    """Distances and losses. Raises NotApplicable if samples have no targets of their own, or after too few steps."""
    need_steps(run, STEPS)
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    main = arguments.main()
    if main is None or batch.targets is None or not batch.targets.ndim:
        raise NotApplicable("the model takes no batch of numbers, or its loss has no targets")
    x = arguments.leaves[main]
    rows = x.shape[0]
    if rows < ROWS or batch.targets.numel() % rows:
        raise NotApplicable(f"the batch does not have targets for each of at least {ROWS} samples")
    dealt = {
        place: leaf.roll(1, 0)
        for place, leaf in enumerate(arguments.leaves)
        if isinstance(leaf, torch.Tensor) and leaf.ndim and leaf.shape[0] == rows
    }
    operation = run.trace.graph.loss_op or ""
    with quiet(model_of(run, batch)) as model:
        out = call(model, batch.args, batch.kwargs)
        if out.shape[0] != rows or not torch.isfinite(out).all():
            raise NotApplicable("the model does not give one finite output for each sample")
        loss = _loss(model, batch, arguments.arguments(), operation)
        dealt_loss = _loss(model, batch, arguments.arguments(dealt), operation)
        zero_loss = _loss(model, batch, arguments.arguments({main: torch.zeros_like(x)}), operation)
    unit = 1.0
    if batch.targets.is_floating_point() and batch.targets.numel() > 1:
        spread = float(batch.targets.float().std())
        unit = spread if spread > 1e-9 else 1.0
    values = x.float().flatten(1)
    size = float(values.abs().mean()) + 1e-12
    return Numbers(
        input_spread=float((values - values.roll(1, 0)).abs().mean()) / size,
        moved=float((out - out.roll(1, 0)).abs().mean()) / unit,
        loss=loss,
        dealt_loss=dealt_loss,
        zero_loss=zero_loss,
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if all samples get one output, and the loss is no higher with other samples' targets."""
    loss, dealt = numbers.loss, numbers.dealt_loss
    rise = (dealt - loss) / abs(loss) if math.isfinite(dealt) and math.isfinite(loss) and loss else math.nan
    if not equal_outputs(numbers) or rise > WORSE:
        return Verdict("input_independence", False, "different samples get different outputs", numbers.labeled())
    text = f"all samples get the same output: two outputs differ by {numbers.moved:.1g}"
    text += f" (usually {Numbers.usual('moved')})"
    if math.isfinite(loss):
        text += f". The loss is {loss:.3g}, and {dealt:.3g} with other samples' targets"
    if numbers.input_spread < SAME:
        text += ", and the samples are alike before they enter the model"
        causes = ("data/everything_unknown", "precision/integer_features")
    else:
        text += f", although the samples differ (by {numbers.input_spread:.2g} of their size)"
        causes = ("initialisation/dead_relu", "optimizer/lr_too_high")
    suspects = tuple(Suspect(cause, score, text) for cause, score in zip(causes, (0.45, 0.35), strict=True))
    return Verdict("input_independence", True, text, numbers.labeled(), suspects)
