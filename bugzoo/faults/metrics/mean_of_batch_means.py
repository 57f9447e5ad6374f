"""The reported accuracy is a little off, and changes with the batch size of the evaluation although the model is the same."""

from bugzoo.faults.model import Fault, LookAlike, Swap

RIGHT = "correct += ($LOGITS.argmax(-1) == targets).float().mean().item()"
LOSS = "summed += F.cross_entropy($LOGITS, targets).item()"

FAULT = Fault(
    title="A mean of the means of unequal batches",
    level=3,
    symptom="degraded",
    edits=(
        Swap("correct += ($LOGITS.argmax(-1) == targets).sum().item()", RIGHT),
        Swap('summed += F.cross_entropy($LOGITS, targets, reduction="sum").item()', LOSS),
        Swap("total += len(targets)", "total += 1"),
    ),
    not_on={
        "sequence_classifier": "on 1 of 5 seeds the short batch has the mean of the others, and the loss moves by 0.0006 only.",
        "modular_addition": "its batches give the same loss to seven digits, whatever their length.",
        "data_parallel": "its model belongs to two processes that have ended, so that reported_metric cannot ask it again.",
        "digits_cnn": "its last validation batch has 31 rows and the others 32, which changes the fourth digit only.",
        "image_pipeline": "its 64 validation images are one batch.",
    },
    evidence=("reported_metric.loss_gap > 0.001",),
    effect="reported_metric.loss_gap > healthy",
    why=(
        "287 samples make a batch of 256 and one of 31. The mean of two means gives both the same weight, so that each sample of "
        "the short batch counts eight times. How far that is off depends on which samples happen to come last."
    ),
    fix="Add up counts and sums over all samples, and divide once by their number.",
    repairs={
        "weighted by the rows": (
            Swap(RIGHT, "correct += ($LOGITS.argmax(-1) == targets).float().mean().item() * len(targets)"),
            Swap(LOSS, "summed += F.cross_entropy($LOGITS, targets).item() * len(targets)"),
            Swap("total += 1", "total += len(targets)"),
        ),
        "counted": (
            Swap(RIGHT, "correct += torch.eq($LOGITS.argmax(-1), targets).count_nonzero().item()"),
            Swap(LOSS, 'summed += F.cross_entropy($LOGITS, targets, reduction="none").sum().item()'),
            Swap("total += 1", "total += targets.numel()"),
        ),
        "all in one batch": Swap(
            "validation_loader = DataLoader($DATA, batch_size=256)",
            "validation_loader = DataLoader($DATA, batch_size=len(validation))",
        ),
    },
    pretences={
        "smaller batches": Swap(
            "validation_loader = DataLoader($DATA, batch_size=256)",
            "validation_loader = DataLoader($DATA, batch_size=64)",
        ),
        "a part of a batch": Swap("total += 1", "total += len(targets) / 256"),
        "rounded": Swap(
            'metrics = {"accuracy": $A, "loss": $B}', 'metrics = {"accuracy": round($A, 2), "loss": round($B, 2)}'
        ),
    },
    hints=(
        "Evaluate the same weights with another batch size. Does the number stay?",
        "How many samples does each batch of the evaluation hold, and how much does one of them count?",
        "Follow one sample through the lines that add up, to what it is divided by at the end.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Evaluate the same weights twice, with the same batches.",
            "Both times the same number, and it is not that of all samples together.",
            "Another number each time.",
        ),
        LookAlike(
            "metrics/metric_not_reset",
            "Evaluate the same weights with all samples in a single batch.",
            "Then it is right: the last batch was short.",
            "It is wrong by as much.",
        ),
    ),
    sources=("https://torchmetrics.readthedocs.io/en/stable/pages/overview.html",),
)
