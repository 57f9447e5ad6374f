"""The reported accuracy is lower than that of the saved model, and rises slowly with more epochs."""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after

COUNTS = "correct, total, summed = 0, 0, 0.0"
COUNTED = (
    "correct += (logits.argmax(-1) == targets).sum().item()\n"
    "total += len(targets)\n"
    "summed += loss.item() * len(targets)"
)

FAULT = Fault(
    title="Metric counters not reset before evaluation",
    level=4,
    symptom="degraded",
    edits=(
        Swap(COUNTS, ""),
        Swap("losses = []", f"losses = []\n{COUNTS}"),
        after(STEP, COUNTED),
    ),
    not_on={
        "data_parallel": (
            "its model belongs to two processes that have ended, so `reported_metric` cannot evaluate it again."
        )
    },
    evidence=("reported_metric.gap > 0.001",),
    effect="metrics.loss > healthy",
    why=(
        "The counters are set to zero once, before the first epoch. At the end the counters hold every training "
        "sample of every epoch, predicted with the weights of that time. The few hundred validation samples hardly "
        "count. The reported number is an average over the whole training, so it describes no model that you can use."
    ),
    fix=(
        "Reset the counters where the evaluation begins: `correct, total, summed = 0, 0, 0.0`. With metric objects, "
        "call `metric.reset()`."
    ),
    repairs={
        "before the loop over batches": Swap(
            "with torch.no_grad():\n    $$$BODY", f"{COUNTS}\nwith torch.no_grad():\n    $$$BODY"
        ),
        "one by one": Swap(
            "with torch.no_grad():\n    $$$BODY",
            "correct = 0\ntotal = 0\nsummed = 0.0\nwith torch.no_grad():\n    $$$BODY",
        ),
        "what came before taken off": (
            Swap(
                "with torch.no_grad():\n    $$$BODY",
                "before = correct, total, summed\nwith torch.no_grad():\n    $$$BODY",
            ),
            Swap(
                'metrics = {"accuracy": $A, "loss": $B}',
                "correct, total, summed = correct - before[0], total - before[1], summed - before[2]\n"
                'metrics = {"accuracy": $A, "loss": $B}',
            ),
        ),
    },
    pretences={
        "in every epoch": Swap("model.train()", f"model.train()\n{COUNTS}"),
        "only the right ones": Swap(
            "with torch.no_grad():\n    $$$BODY", "correct = 0\nwith torch.no_grad():\n    $$$BODY"
        ),
        "behind the evaluation": Swap("print(metrics)", f"{COUNTS}\nprint(metrics)"),
    },
    hints=(
        "How many samples does the reported number average over? How many samples should the evaluation have?",
        "Evaluate the final model by hand on the same loader. Compare the result with the reported number.",
        "Follow `total` from the line that sets it to zero to the line that divides by it.",
    ),
    look_alikes=(
        LookAlike(
            "metrics/argmax_over_wrong_dim",
            "Compare the reported accuracy with the accuracies of the first and the last epoch.",
            "The reported accuracy is between the two: `reported_metric.reported > 0.3`.",
            "The reported accuracy is far below both: `reported_metric.reported < 0.3`.",
        ),
        LookAlike(
            "metrics/mean_of_batch_means",
            "Evaluate the same weights with all samples in a single batch.",
            "The reported number is as wrong as before.",
            "The reported number is now right.",
        ),
        LookAlike(
            "modes/eval_mode_missing",
            "Set the counters to zero right before the evaluation, and change nothing else.",
            "The reported accuracy becomes that of the trained weights.",
            "The reported accuracy stays as it was.",
        ),
    ),
    sources=("https://torchmetrics.readthedocs.io/en/stable/pages/overview.html",),
    terms=("metric reset",),
)
