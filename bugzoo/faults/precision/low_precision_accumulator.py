"""The reported validation loss is wrong, and more samples increase the error. The accuracy is right."""

from bugzoo.faults.model import Fault, LookAlike, Swap

EXACT = 'summed += F.cross_entropy($LOGITS, targets, reduction="sum").item()'
EACH = 'for one in F.cross_entropy($LOGITS, targets, reduction="none").tolist():\n    '
ROUNDED = f"{EACH}summed = torch.tensor(summed + one, dtype=torch.bfloat16).item()"

FAULT = Fault(
    title="Validation loss summed in bfloat16",
    level=4,
    symptom="degraded",
    edits=Swap(EXACT, ROUNDED),
    not_on={
        "image_pipeline": (
            "its validation set is a single batch. On 1 of 5 seeds the loss moves by only 0.0003 (measured)."
        ),
        "modular_addition": "on 1 of 5 seeds the loss is so small that it moves by only 0.0009.",
        "data_parallel": "its model belongs to two processes that have ended, so reported_metric cannot run it again.",
    },
    evidence=("reported_metric.loss_gap > 0.003",),
    effect="reported_metric.loss_gap > healthy",
    why=(
        "bfloat16 keeps 8 significant bits, so above 32 neighboring numbers are 0.25 apart. A loss of 0.1 is less "
        "than half of that, so adding it changes nothing, and the next loss is lost too. The sum stops growing, "
        "while the number of samples that divides it keeps growing. float16 has 11 bits and stops counting ones "
        "at 2048."
    ),
    fix="Keep running sums in float32 or as Python floats, whatever the dtype of the terms.",
    repairs={
        "in float64": Swap(ROUNDED, ROUNDED.replace("bfloat16", "float64")),
        "in float32": Swap(ROUNDED, ROUNDED.replace("bfloat16", "float32")),
        "a list that is summed": Swap(
            ROUNDED, 'summed += sum(F.cross_entropy($LOGITS, targets, reduction="none").tolist())'
        ),
    },
    pretences={
        "on another grid": Swap(
            ROUNDED, f"{EACH}summed = torch.tensor(1.3 * summed + 1.3 * one, dtype=torch.bfloat16).item() / 1.3"
        ),
        "rounded terms": Swap(
            ROUNDED, f"{EACH}summed = torch.tensor(summed + round(one, 1), dtype=torch.bfloat16).item()"
        ),
        "fewer of them": Swap(ROUNDED, ROUNDED.replace(".tolist()", "[::2].tolist()")),
    },
    hints=(
        "Recompute the reported loss from the logits and targets. How large is the error, and in which direction?",
        "Print the running sum after each sample. Which numbers can it reach, and where does it stop growing?",
        "Print the dtype of the variable that every loss is added to.",
    ),
    look_alikes=(
        LookAlike(
            "metrics/mean_of_batch_means",
            "Recompute the accuracy too, by counting the correct predictions.",
            "The accuracy is right, and only the loss is wrong.",
            "Accuracy and loss are both wrong.",
        ),
        LookAlike(
            "fit/metric_on_train_set",
            "Recompute the loss from the same logits and targets, and compare.",
            "The result differs from the reported loss.",
            "The result equals the reported loss, but the samples are the wrong ones.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html",),
    terms=("machine epsilon", "bf16"),
)
