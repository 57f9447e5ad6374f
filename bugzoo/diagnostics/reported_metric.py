"""Is what the script reports what its model really reaches on the data that it was evaluated on?

The script's own evaluation is run once more, and what went into its loss is kept: answers and targets of all batches.
Accuracy and mean loss are worked out from these, over all samples at once, and compared with the script's `metrics`. A
difference is no matter of chance: both are the same model on the same batches. Of a script without `metrics` the function that
evaluates is called once more, and what it returns is compared with the share of right answers that it saw.
"""

import math
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.look import Evaluated
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "reported": ("accuracy that the script reports", "the next number"),
    "recomputed": ("accuracy, worked out again", ""),
    "gap": ("difference between the two", "0"),
    "reported_loss": ("loss that the script reports", "the next number"),
    "recomputed_loss": ("loss, worked out again", ""),
    "loss_gap": ("difference, as a share", "0"),
    "samples": ("targets looked at", ""),
}
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
"""Largest difference of two shares, or of two losses as a share, that is rounding."""
SAME, NOTED = 1e-6, 0.003
"""Two numbers are one; and what a mean over batches may be off before anybody would read it otherwise."""


def measure(run: Run) -> dict[str, Any]:
    """Reported and recomputed accuracy and loss. Raises NotApplicable where the script reports neither."""
    said = run.trace.metrics
    found = evaluated(run)
    if not {"accuracy", "loss"} & set(said):
        return _returned(found)
    if not found.pairs:
        raise NotApplicable("no loss was computed in its evaluation, so that its targets are not known")
    numbers: dict[str, Any] = {"samples": float(sum(y.numel() for _, y in found.pairs)), "gap": 0.0, "loss_gap": 0.0}
    numbers["by_batches"] = 0.0
    if "accuracy" in said and found.classifies:
        numbers |= {"reported": float(said["accuracy"]), "recomputed": found.accuracy()}
        numbers["gap"] = _gap(numbers["reported"] - numbers["recomputed"])
    if "loss" in said:
        numbers |= {"reported_loss": float(said["loss"]), "recomputed_loss": found.loss()}
        off = numbers["reported_loss"] - numbers["recomputed_loss"]
        numbers["loss_gap"] = _gap(off / (abs(numbers["recomputed_loss"]) + 1e-9))
    return numbers


def _returned(found: Evaluated) -> dict[str, Any]:
    """What a function of the script returned is known for an accuracy by being one: over all samples, or over batches."""
    right = [float(one.float().mean()) for one in found.matches]
    if not right or not found.returned:
        raise NotApplicable(
            "the script has no dict `metrics` with an accuracy or a loss, and no function that returns one"
        )
    overall, by_batches = float(torch.cat(found.matches).float().mean()), sum(right) / len(right)
    numbers: dict[str, Any] = {"samples": float(sum(map(len, found.matches))), "loss_gap": 0.0}
    for share in (one / scale for one in found.returned for scale in (1.0, 100.0)):
        if abs(share - overall) < SAME:
            return numbers | {"reported": share, "recomputed": overall, "gap": 0.0, "by_batches": 0.0}
    for share in (one / scale for one in found.returned for scale in (1.0, 100.0)):
        if abs(share - by_batches) < SAME:
            return numbers | {"reported": share, "recomputed": overall, "gap": abs(share - overall), "by_batches": 1.0}
    raise NotApplicable("no number that its evaluation returns is an accuracy")


def _gap(difference: float) -> float:
    """A report that is no number is as wrong as can be; two losses that are both lost agree."""
    return abs(difference) if math.isfinite(difference) else 0.0


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where the reported accuracy or loss is not that of the model on the batches of the evaluation."""
    shown = pick(numbers, "reported", "recomputed", "gap", "reported_loss", "recomputed_loss", "loss_gap", "samples")
    parts = []
    if "reported" in numbers:
        parts.append(f"accuracy {numbers['reported']:.4f} reported, {numbers['recomputed']:.4f} worked out again")
    if "reported_loss" in numbers:
        parts.append(f"loss {numbers['reported_loss']:.4g} reported, {numbers['recomputed_loss']:.4g} worked out again")
    text = f"over {numbers['samples']:.0f} targets: {'; '.join(parts)}"
    if numbers.get("by_batches"):
        text += ", the mean of the batches' own"
        suspects = (Suspect("metrics/mean_of_batch_means", 0.8, text),) if numbers["gap"] > NOTED else ()
        return Verdict("reported_metric", bool(suspects), text, shown, suspects)
    large = numbers["gap"] > 0.2
    if numbers["gap"] > OFF or numbers["loss_gap"] > 10 * OFF:
        suspects = (
            Suspect("metrics/argmax_over_wrong_dim", 0.7 if large else 0.2, text),
            Suspect("metrics/mean_of_batch_means", 0.2 if large else 0.5, text),
            Suspect("metrics/metric_not_reset", 0.3 if large else 0.4, text),
        )
        likeliest = tuple(sorted(suspects, key=lambda one: -one.score))
        return Verdict("reported_metric", True, text, shown, likeliest)
    return Verdict("reported_metric", False, text, shown)
