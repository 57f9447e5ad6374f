"""The reported accuracy is slightly off, and changes with the evaluation batch size although the model is the same."""

from bugzoo.faults.model import Fault, LookAlike, Swap

RIGHT = "correct += ($LOGITS.argmax(-1) == targets).float().mean().item()"
LOSS = "summed += F.cross_entropy($LOGITS, targets).item()"

FAULT = Fault(
    title="Mean of batch means with a smaller last batch",
    level=3,
    symptom="degraded",
    edits=(
        Swap("correct += ($LOGITS.argmax(-1) == targets).sum().item()", RIGHT),
        Swap('summed += F.cross_entropy($LOGITS, targets, reduction="sum").item()', LOSS),
        Swap("total += len(targets)", "total += 1"),
    ),
    not_on={
        "sequence_classifier": (
            "on 1 of 5 seeds the short batch has the same mean as the others, and the loss moves by 0.0006 only."
        ),
        "modular_addition": "its batches give the same loss to seven digits, whatever their size.",
        "data_parallel": (
            "its model belongs to two processes that have ended, so `reported_metric` cannot evaluate it again."
        ),
        "digits_cnn": (
            "its last validation batch has 31 rows and the others have 32, which changes the fourth digit only."
        ),
        "image_pipeline": "its 64 validation images are one batch.",
    },
    evidence=("reported_metric.loss_gap > 0.001",),
    effect="reported_metric.loss_gap > healthy",
    why=(
        "287 samples give one batch of 256 and one batch of 31. The mean of the two batch means gives both the same "
        "weight. So each sample of the short batch counts eight times as much as another. The size of the error "
        "depends on which samples happen to come last."
    ),
    fix=(
        'Sum the counts and the losses over all samples (`.sum()`, `reduction="sum"`). Divide once, by the number of '
        "samples."
    ),
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
        "Evaluate the same weights with another batch size. Does the number change?",
        "Print the size of each batch in the evaluation. How much does one sample of each batch count?",
        "Follow one sample through the lines that add up. What is the sum divided by at the end?",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Evaluate the same weights twice, with the same batches both times.",
            "Both evaluations give the same number, but it is not the mean over all samples.",
            "The two evaluations give different numbers.",
        ),
        LookAlike(
            "metrics/metric_not_reset",
            "Evaluate the same weights with all samples in a single batch.",
            "The reported number is now right.",
            "The reported number is as wrong as before.",
        ),
    ),
    sources=("https://torchmetrics.readthedocs.io/en/stable/pages/overview.html",),
    terms=("reduction",),
)
