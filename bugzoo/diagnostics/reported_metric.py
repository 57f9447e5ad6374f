"""Do the reported accuracy and loss match those recomputed on the same data?

The script's own evaluation runs once more, and the inputs of its loss are kept: outputs and targets of all batches. Accuracy
and mean loss are recomputed from these, over all samples at once, and compared with the script's `metrics`. Chance plays no
part: both come from the same model on the same batches. Without `metrics`, the function that evaluates is called once more,
and its return value is compared with the share of correct outputs that it saw.
"""

import math
from dataclasses import dataclass

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.look import Evaluated
from bugzoo.running.result import Run

COST = 1
VIEW = "evaluation"
TITLE = "Result that the script reports"
KNOWN_PROBLEMS = (
    "A false positive for a reported loss with class weights or a penalty term, because the recomputed loss has "
    "neither. "
    "It compares accuracy and loss only, and misses other metrics, such as F1 or perplexity, and printed numbers."
)
_TAIL = """\
correct, total, summed = 0, 0, 0.0
model.eval()
with torch.no_grad():
    for rows in torch.arange(256).split(100):
        logits = model(inputs[rows])
        summed += F.cross_entropy(logits, targets[rows], reduction="sum").item()
        correct += (logits.argmax(-1) == targets[rows]).sum().item()
        total += len(rows)
metrics = {"accuracy": correct / total, "loss": summed / total}
"""
_LAST = "        accuracy = (model(inputs).argmax(1) == targets).float().mean()\n"
HEALTHY = example((_LAST, _LAST + _TAIL))
SICK = example((_LAST, _LAST + _TAIL.replace("argmax(-1)", "argmax()")))
OFF = 1e-4
"""Largest difference of two shares, or relative difference of two losses, that is rounding."""
SAME, NOTED = 1e-6, 0.003
"""Two numbers are equal below the first; a mean over batches misleads no reader below the second."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Accuracies between 0 and 1, and losses in the loss's own unit."""

    samples: float = number("targets in the evaluation")
    reported: float | None = optional("accuracy that the script reports", "the recomputed one")
    recomputed: float | None = optional("accuracy recomputed over all samples")
    gap: float = number("difference of reported and recomputed accuracy", (0, 0.001))
    reported_loss: float | None = optional("loss that the script reports", "the recomputed one")
    recomputed_loss: float | None = optional("mean loss recomputed over all samples")
    loss_gap: float = number("relative difference of reported and recomputed loss", (0, 0.001))
    by_batches: float


_ACCURACY = (
    "The script's result was computed again on the same data. It reports an accuracy of {reported:.4f}, and "
    "{recomputed:.4f} is right."
)
_EQUAL = "The two should be equal, up to {limits[gap]:.1g}."
batched = above("by_batches")
batch_mean = Alarm(batched & above("gap", NOTED), _ACCURACY, _EQUAL)
wrong_accuracy = Alarm(~batched & above("gap", OFF), _ACCURACY, _EQUAL)
wrong_loss = Alarm(
    ~batched & above("loss_gap", 10 * OFF),
    "The script's result was computed again on the same data. It reports a loss of {reported_loss:.4g}, and "
    "{recomputed_loss:.4g} is right.",
    "The two should be equal, up to {limits[loss_gap]:.1%}.",
)
ALARMS = (batch_mean, wrong_accuracy, wrong_loss)


def measure(run: Run) -> Numbers:
    """Reported and recomputed accuracy and loss. Raises NotApplicable where the script reports neither."""
    metrics, evaluation = run.trace.metrics, evaluated(run)
    if not {"accuracy", "loss"} & set(metrics):
        return _returned(evaluation)
    if not evaluation.pairs:
        raise NotApplicable("the evaluation computes no loss, so its targets are unknown")
    samples = float(sum(y.numel() for _, y in evaluation.pairs))
    numbers = Numbers(samples=samples, gap=0.0, loss_gap=0.0, by_batches=0.0)
    if "accuracy" in metrics and evaluation.classifies:
        numbers.reported, numbers.recomputed = float(metrics["accuracy"]), evaluation.accuracy()
        numbers.gap = _gap(numbers.reported - numbers.recomputed)
    if "loss" in metrics:
        numbers.reported_loss, numbers.recomputed_loss = float(metrics["loss"]), evaluation.loss()
        off = numbers.reported_loss - numbers.recomputed_loss
        numbers.loss_gap = _gap(off / (abs(numbers.recomputed_loss) + 1e-9))
    return numbers


def _returned(evaluation: Evaluated) -> Numbers:
    """What an evaluation function returned counts as an accuracy if it equals one, over all samples or over batches."""
    matches = evaluation.matches
    if not matches or not evaluation.returned:
        raise NotApplicable(
            "the script has no dict `metrics` with an accuracy or a loss, and no function that returns one"
        )
    samples, overall = float(sum(map(len, matches))), float(torch.cat(matches).float().mean())
    by_batches = sum(float(match.float().mean()) for match in matches) / len(matches)
    shares = [value / scale for value in evaluation.returned for scale in (1.0, 100.0)]
    for share in shares:
        if abs(share - overall) < SAME:
            return Numbers(samples=samples, reported=share, recomputed=overall, gap=0.0, loss_gap=0.0, by_batches=0.0)
    for share in shares:
        if abs(share - by_batches) < SAME:
            gap = abs(share - overall)
            return Numbers(samples=samples, reported=share, recomputed=overall, gap=gap, loss_gap=0.0, by_batches=1.0)
    raise NotApplicable("no number that the evaluation returns is an accuracy")


def _gap(difference: float) -> float:
    """The size of a difference; 0 where one of the two numbers is not finite."""
    return abs(difference) if math.isfinite(difference) else 0.0


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires where the reported accuracy or loss differs from that of the model on the evaluation's batches."""
    parts = []
    if numbers.reported is not None:
        parts.append(f"accuracy {numbers.reported:.4f} reported, {numbers.recomputed:.4f} recomputed")
    if numbers.reported_loss is not None:
        parts.append(f"loss {numbers.reported_loss:.4g} reported, {numbers.recomputed_loss:.4g} recomputed")
    text = f"over {numbers.samples:.0f} targets: {'; '.join(parts)}"
    suspects: tuple[Suspect, ...] = ()
    if batched(numbers):
        text += "; the reported accuracy is the mean of the accuracies of the batches"
        suspects = (Suspect("metrics/mean_of_batch_means", 0.8, text),) if batch_mean(numbers) else ()
    elif wrong_accuracy(numbers) or wrong_loss(numbers):
        large = numbers.gap > 0.2
        suspects = (
            Suspect("metrics/argmax_over_wrong_dim", 0.7 if large else 0.2, text),
            Suspect("metrics/mean_of_batch_means", 0.2 if large else 0.5, text),
            Suspect("metrics/metric_not_reset", 0.3 if large else 0.4, text),
        )
        suspects = tuple(sorted(suspects, key=lambda suspect: -suspect.score))
    return Verdict("reported_metric", bool(suspects), text, numbers.labeled(), suspects)
