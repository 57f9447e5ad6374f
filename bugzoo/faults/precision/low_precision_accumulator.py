"""The reported validation loss is off, and the further the more samples there are; the accuracy is right."""

from bugzoo.faults.model import Fault, LookAlike, Swap

EXACT = 'summed += F.cross_entropy($LOGITS, targets, reduction="sum").item()'
EACH = 'for one in F.cross_entropy($LOGITS, targets, reduction="none").tolist():\n    '
ROUNDED = f"{EACH}summed = torch.tensor(summed + one, dtype=torch.bfloat16).item()"

FAULT = Fault(
    title="A running sum in half precision",
    level=4,
    symptom="degraded",
    edits=Swap(EXACT, ROUNDED),
    not_on={
        "image_pipeline": "its validation is a single batch, and on 1 of 5 seeds the loss moves by 0.0003 only, measured.",
        "modular_addition": "on 1 of 5 seeds the loss is so small that it moves by 0.0009 only.",
        "data_parallel": "its model belongs to two processes that have ended, so that reported_metric cannot ask it again.",
    },
    evidence=("reported_metric.loss_gap > 0.003",),
    effect="reported_metric.loss_gap > healthy",
    why=(
        "bfloat16 keeps 8 bits of a number: behind 32 its neighbours lie 0.25 apart. A loss of 0.1 added there is less than "
        "half of that and is rounded away, whole, and so is the next one: the sum stands still while the number of samples that "
        "it is divided by goes on growing. float16 has 11 bits, and stops counting ones at 2048."
    ),
    fix="Keep running sums in float32 or as Python floats, whatever the terms are.",
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
        "Work the reported number out again, from the answers and targets. How far is it off, and in which direction?",
        "Print the running sum after each sample. Which numbers can it be, and where does it stop?",
        "Look at the type of the thing that everything is added to.",
    ),
    look_alikes=(
        LookAlike(
            "metrics/mean_of_batch_means",
            "Look at the accuracy as well, of which the counts are whole numbers.",
            "It is right, and only the sum of losses is off.",
            "Both are off.",
        ),
        LookAlike(
            "fit/metric_on_train_set",
            "Work the loss out again, from the same answers and targets.",
            "It is another one than was reported.",
            "It is the one that was reported; the samples are the wrong ones.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html",),
)
