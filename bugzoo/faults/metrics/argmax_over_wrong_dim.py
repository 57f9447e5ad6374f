"""The loss is fine, on validation data as well, and the accuracy is far below chance."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

WHOLE = "$LOGITS.argmax()"

FAULT = Fault(
    title="The best class is looked for in the whole batch",
    level=3,
    symptom="degraded",
    edits=Swap("$LOGITS.argmax(-1)", WHOLE),
    not_on={
        "amp_transformer": "it is right in a third of its answers, so that the gap is 0.26 to 0.29, measured.",
        "mini_transformer": "it is right in a third of its answers, so that the gap is under 0.3 on 1 of 5 seeds, measured.",
        "sampler": "its evaluation writes texts as well, and reported_metric cannot run it once more, tried.",
        "data_parallel": "its model belongs to two processes that have ended, so that reported_metric cannot ask it again.",
    },
    evidence=("reported_metric.gap > 0.3",),
    effect="metrics.accuracy < healthy",
    why=(
        "argmax without an axis flattens: of 256 rows of 10 logits it gives one number between 0 and 2559, the place of the "
        "largest of all. Compared with 256 targets it is stretched to all of them, no shape complains, and almost none is equal. "
        "The model is as good as ever, which its loss says."
    ),
    fix="argmax(-1), over the axis of the classes; assert that answers and targets have one shape before they are compared.",
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
        "Loss and accuracy speak of the same answers. Can both be true?",
        "Write down the shape of what is compared with the targets.",
        "Take one batch and three lines: answers, targets, and how many of them agree by hand.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Count by hand how many rows of a batch have their largest answer at the target.",
            "Nearly all, and the script says none: `reported_metric.gap > 0.3`.",
            "As few as the script says: `reported_metric.gap < 0.3`.",
        ),
        LookAlike(
            "metrics/metric_not_reset",
            "Look whether the reported number could be the average of something that the model has done.",
            "No: it is far below anything, `reported_metric.reported < 0.3`.",
            "Yes: it lies between the first epochs and the last, `reported_metric.reported > 0.3`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.argmax.html",),
)
