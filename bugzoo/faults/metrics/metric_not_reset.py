"""The accuracy in the report is lower than any that one gets from the saved model, and grows slowly with more epochs."""

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
    title="The counts of the training go on in the evaluation",
    level=4,
    symptom="degraded",
    edits=(
        Swap(COUNTS, ""),
        Swap("losses = []", f"losses = []\n{COUNTS}"),
        after(STEP, COUNTED),
    ),
    not_on={
        "data_parallel": "its model belongs to two processes that have ended, so that reported_metric cannot ask it again."
    },
    evidence=("reported_metric.gap > 0.001",),
    effect="metrics.loss > healthy",
    why=(
        "The counters were set to zero once, before the first epoch. By the end they hold every training sample of every epoch, "
        "answered by the weights of that time, and the few hundred validation samples on top hardly matter. It is the average of "
        "a whole training, which is about nothing that can be used."
    ),
    fix="Set counters (and metric objects: reset()) to zero where an evaluation begins.",
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
        "How many samples is the reported number an average of? How many are there to be evaluated?",
        "Evaluate the finished model by hand on the same loader, and lay the two numbers side by side.",
        "Follow a counter from where it is set to zero to where it is divided.",
    ),
    look_alikes=(
        LookAlike(
            "metrics/argmax_over_wrong_dim",
            "Look whether the reported number could be the average of something that the model has done.",
            "Yes: it lies between the first epochs and the last, `reported_metric.reported > 0.3`.",
            "No: it is far below anything, `reported_metric.reported < 0.3`.",
        ),
        LookAlike(
            "metrics/mean_of_batch_means",
            "Evaluate the same weights with all samples in a single batch.",
            "It is wrong by as much.",
            "Then it is right: the last batch was short.",
        ),
    ),
    sources=("https://torchmetrics.readthedocs.io/en/stable/pages/overview.html",),
)
