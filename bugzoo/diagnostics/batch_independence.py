"""Does a sample's output depend on the rest of its batch?

In eval mode it must not. The trained model is asked three questions. `alone_gap`: a few samples go through it one at a time. How
far do their outputs move, over the usual distance between two samples? `again_gap`: the same batch goes through twice; do the
outputs differ, because the model keeps a hidden state? `batch_leak`: half of the batch is replaced; how far do the outputs of the
other half move, over those of the replaced one? All three are 0 for independent samples. Otherwise a batch and a time axis are
confused, rows are in another order, something is reduced over the batch, or outputs read the padding that the batch brought.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call, changed, moved, shifted
from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import Measured, judges, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet, tensors
from bugzoo.running.result import Run

COST = 1
VIEW = "repeat"
TITLE = "One example alone and among others"
KNOWN_PROBLEMS = (
    "A false positive for a model that mixes samples on purpose, such as message passing over sampled subgraphs or "
    "BatchNorm without running statistics. "
    "It says nothing about next-token models, or about models with a second input of two axes unless each sample has one "
    "target."
)
HEALTHY = example()
SICK = example(("nn.ReLU()", "nn.Softmax(dim=0)"))
MOST = 8
"""Samples that are passed alone."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Gaps over the spread of the samples; 0 is right. `axes` and `other_inputs` are counts, the other two flags."""

    batch_leak: float | None = optional(
        "change of other samples over that of the changed ones", (0, 0.001), view="influence"
    )
    alone: float | None = optional("samples that go through the model alone as well", view="influence")
    again_gap: float | None = optional("a batch passed twice with equal random numbers, difference", (0, 0.001))
    alone_gap: float | None = optional("a sample alone and in its batch, padding kept, difference", (0, 0.01))
    recurrent: float
    axes: float
    other_inputs: float
    next_token: float


repeat_gap = Alarm(
    above("again_gap", 1e-3),
    "The same batch was passed to the model twice. The outputs differ by {again_gap:.2g} of the samples' spread.",
    "They should be equal; up to {limits[again_gap]:.3f} passes.",
)
"""The limit is lower than that of a sample alone: no sum has another order."""
neighbour_leak = Alarm(
    above("batch_leak", 0.01) & below("other_inputs", 1) & below("next_token", 1),
    "The other examples of a batch were changed. An example's output moves by {batch_leak:.2g} of the usual change.",
    "It should not move; up to {limits[batch_leak]:.2f} passes.",
)
batch_gap = Alarm(
    above("alone_gap", 0.01) & ~repeat_gap.when,
    "Examples were passed to the model alone and again in a batch. Their outputs differ by up to {alone_gap:.2g} of "
    "the samples' spread.",
    "They should be equal; up to {limits[alone_gap]:.2f} passes.",
)
ALARMS = (repeat_gap, neighbour_leak, batch_gap)


def measure(run: Run) -> Numbers:
    """Gaps and a leak (0 is right); None where the question makes no sense. Raises NotApplicable without any."""
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    main = arguments.main()
    if main is None:
        raise NotApplicable("the model was called with no tensor of tokens or numbers")
    with quiet(model_of(run, batch)) as model:
        out = call(model, batch.args, batch.kwargs)
        if not torch.isfinite(out).all():
            raise NotApplicable("the model's outputs are not finite, in eval mode, too")
        tensor_inputs = [x for x in arguments.leaves if isinstance(x, torch.Tensor)]
        numbers = Numbers(
            recurrent=float(any(isinstance(part, torch.nn.RNNBase) for part in model.modules())),
            axes=float(arguments.leaves[main].ndim),
            other_inputs=float(sum(x.ndim >= 2 for x in tensor_inputs) - 1),
            next_token=float(any(bool(shifted(x, batch.targets)) for x in tensor_inputs)),
        )
        reason = ""
        try:
            numbers.alone, numbers.alone_gap, numbers.again_gap = _gaps(model, batch, arguments, main, out)
        except NotApplicable as why:
            reason = str(why)
        if torch.equal(out, call(model, batch.args, batch.kwargs)) and not _one_graph(run, batch, out):
            numbers.batch_leak = _batch_leak(model, arguments, main, out)
        if numbers.batch_leak is None and reason:
            raise NotApplicable(reason)
    return numbers


def _gaps(model: Any, batch: Any, arguments: Call, main: int, out: torch.Tensor) -> tuple[float, float, float]:
    """(samples passed alone, `alone_gap`, `again_gap`). Raises NotApplicable where rows are not samples with one output each."""
    rows = arguments.leaves[main].shape[0]
    if batch.targets is None or batch.targets.ndim != 1 or len(batch.targets) != rows or rows < 2:
        raise NotApplicable("the batch has not one target for each of several samples")
    if out.shape[0] != rows:
        raise NotApplicable("the model does not give one output for each sample")
    chosen = range(0, rows, max(1, rows // MOST))
    try:
        alone = [call(model, *arguments.alone(index, rows, -1, -1))[0] for index in chosen]
    except Exception as error:  # a model that takes no single sample
        raise NotApplicable(f"the model does not take one sample alone ({error})") from None
    if alone[0].shape != out[0].shape:
        raise NotApplicable("the model's output has another shape for a sample alone")
    first, again = call(model, batch.args, batch.kwargs), call(model, batch.args, batch.kwargs)
    spread = float(out.std(0).mean()) + 1e-12
    gaps = [float((output - first[index]).abs().mean()) for output, index in zip(alone, chosen, strict=True)]
    return float(len(gaps)), sum(gaps) / len(gaps) / spread, float((again - first).abs().mean()) / spread


def _batch_leak(model: Any, arguments: Call, place: int, out: torch.Tensor) -> float | None:
    """Relative movement of unchanged samples along the batch axis; None when input and output share no axis."""
    x, leaks = arguments.leaves[place], []
    for axis in (0, 1):
        if axis >= min(x.ndim, out.ndim) or x.shape[axis] != out.shape[axis] or x.shape[axis] < 2:
            continue
        if axis == 1 and out.ndim < 3:
            continue
        start = x.shape[axis] // 2
        after = call(model, *arguments.arguments({place: changed(x, axis, start)}))
        still, usual = moved(out, after, axis, start)
        leaks.append(still / usual if usual > 0 else 0.0)
        if leaks[-1] < 1e-5:
            break
    return min(leaks, default=None)


def _one_graph(run: Run, batch: Any, out: torch.Tensor) -> bool:
    """Are the rows parts of one whole, not samples? The same rows come at every step, or the loss reads some only."""
    if batch.targets is not None and batch.targets.ndim == 1 and out.ndim == 2 and len(batch.targets) < len(out):
        return True
    first = batches(run)[0]
    pairs = list(zip(tensors(first.args), tensors(batch.args), strict=False))
    return first.step != batch.step and bool(pairs) and all(a.shape == b.shape and torch.equal(a, b) for a, b in pairs)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on a gap of a hundredth of the distance between samples (a thousandth for the same batch twice), and on a leak."""
    again, alone, leak = numbers.again_gap or 0.0, numbers.alone_gap or 0.0, numbers.batch_leak or 0.0
    suspects: list[Suspect] = []
    if repeat_gap(numbers):
        text = f"the same batch, passed twice, gives outputs {again:.2g} of the samples' spread apart: the model keeps a state"
        suspects.append(Suspect("recurrent/state_kept_between_batches", 0.7, text))
    if neighbour_leak(numbers):
        text = f"other samples of the batch move an output by {leak:.2g} of the usual movement (0 is right)"
        cause, score = "shape/view_instead_of_permute", 0.6
        if numbers.recurrent:
            cause, score = "recurrent/batch_first_mismatch", 0.7
        elif numbers.axes < 3:  # a table has no axes to mix up: something was reduced over the samples
            cause, score = "loss/wrong_axis_reduction", 0.4
        suspects.append(Suspect(cause, score, text))
    if batch_gap(numbers) and not math.isnan(again):
        text = f"alone, a sample gets an output {alone:.2g} of the samples' spread away from the one in its batch (0 is right)"
        names = ("batch_first_mismatch", "lengths_out_of_order", "output_for_hidden")
        causes = [f"recurrent/{name}" for name in names] if numbers.recurrent else ["loss/wrong_axis_reduction"]
        suspects += [Suspect(cause, 0.4, text) for cause in causes]
    message = suspects[0].reason if suspects else "a sample's output does not depend on its batch"
    return Verdict("batch_independence", bool(suspects), message, numbers.labeled(), tuple(suspects))
