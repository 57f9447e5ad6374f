"""The loss is good, on validation data too. The accuracy is far below chance."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

WHOLE = "$LOGITS.argmax()"

FAULT = Fault(
    title="argmax() without dim=-1 in the accuracy",
    level=3,
    symptom="degraded",
    edits=Swap("$LOGITS.argmax(-1)", WHOLE),
    not_on={
        "amp_transformer": "its predictions are right in a third of all cases, so the gap is 0.26 to 0.29 (measured).",
        "mini_transformer": (
            "its predictions are right in a third of all cases, so the gap is below 0.3 on 1 of 5 seeds (measured)."
        ),
        "sampler": "its evaluation also generates texts, so `reported_metric` cannot run it again (tried).",
        "data_parallel": (
            "its model belongs to two processes that have ended, so `reported_metric` cannot evaluate it again."
        ),
    },
    evidence=("reported_metric.gap > 0.3",),
    effect="metrics.accuracy < healthy",
    why=(
        "`argmax()` without `dim` flattens its input. For 256 rows of 10 logits it returns one number between 0 and "
        "2559, the position of the largest logit of all. Broadcasting compares this number with all 256 targets, so "
        "PyTorch raises no error. Almost no target equals this number. The model itself is fine, as the loss shows."
    ),
    fix=(
        "Write `logits.argmax(-1)`, over the class dimension. Assert that predictions and targets have the same "
        "shape before you compare them."
    ),
    repairs=instead(
        WHOLE,
        {
            "by its name": "$LOGITS.argmax(dim=1 if $LOGITS.ndim == 2 else -1)",
            "the place of the maximum": "$LOGITS.max(-1).indices",
            "the first of the best": "$LOGITS.topk(1, dim=-1).indices.squeeze(-1)",
            "of the probabilities": "$LOGITS.softmax(-1).argmax(-1)",
        },
    ),
    pretences=instead(
        WHOLE,
        {
            "modulo the classes": "($LOGITS.argmax() % $LOGITS.shape[-1])",
            "the smallest": "$LOGITS.argmin(-1)",
            "values for places": "$LOGITS.max(-1).values.round()",
        },
    ),
    hints=(
        "Loss and accuracy come from the same logits. Can both be true?",
        "Print the shape of the tensor that is compared with `targets`.",
        "Take one batch. Print predictions and targets, and count the matches by hand.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "For one batch, count by hand the rows whose largest logit is at the target.",
            "Nearly all rows match, and the script reports almost none: `reported_metric.gap > 0.3`.",
            "As few rows match as the script reports: `reported_metric.gap < 0.3`.",
        ),
        LookAlike(
            "metrics/metric_not_reset",
            "Compare the reported accuracy with the accuracies of the first and the last epoch.",
            "The reported accuracy is far below both: `reported_metric.reported < 0.3`.",
            "The reported accuracy is between the two: `reported_metric.reported > 0.3`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.argmax.html",),
    cause=Cause(either={words.DIMENSION: {}}),
    terms=("broadcasting",),
)
