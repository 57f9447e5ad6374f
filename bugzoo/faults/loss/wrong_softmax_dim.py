"""The loss starts above that of guessing, falls, and means nothing: it depends on how many samples a batch has."""

from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "F.nll_loss(F.log_softmax($LOGITS, dim=0), $TARGETS)"

FAULT = Fault(
    title="Softmax over the samples of a batch",
    level=3,
    symptom="degraded",
    edits=rewrite(LOSS, PLACE="$F.nll_loss($F.log_softmax($LOGITS, dim=0), $TARGETS)"),
    not_on={
        "sequence_classifier": "of two classes as well: its loss is above the healthy one on 2 of 5 seeds only, measured.",
        "amp_transformer": "its loss is a sum over a share of an update, which this edit would make a mean.",
        "data_parallel": "one of several ranks cannot run its step again, which is how this is seen.",
        "sentiment_lstm": "of two classes: its last loss is within 0.03 nats of the healthy one, on 2 of 5 seeds below it.",
    },
    evidence=("output_gradient.column_sum < 0.001",),
    effect="metrics.loss > healthy",
    why=(
        "dim=0 is the batch: the 32 samples compete for each class in place of the 10 classes for each sample. A sample's answer "
        "now depends on its neighbours, guessing costs ln 32 = 3.47 in place of ln 10 = 2.30, and as several samples of one "
        "class cannot all have the largest share of it, the loss cannot come near 0."
    ),
    fix="Softmax over the axis of the classes, dim=-1 here; better, F.cross_entropy, which knows it.",
    repairs=instead(
        LINE,
        {
            "the last axis": "F.nll_loss(F.log_softmax($LOGITS, dim=-1), $TARGETS)",
            "counted from the front": "F.nll_loss(F.log_softmax($LOGITS, dim=1), $TARGETS)",
            "with logsumexp": "F.nll_loss($LOGITS - $LOGITS.logsumexp(1, keepdim=True), $TARGETS)",
        },
    ),
    pretences=instead(
        LINE,
        {
            "over everything": "F.nll_loss($LOGITS - $LOGITS.logsumexp((0, 1)), $TARGETS)",
            "a sum": 'F.nll_loss(F.log_softmax($LOGITS, dim=0), $TARGETS, reduction="sum") / 10',
            "steeper": "F.nll_loss(F.log_softmax(3 * $LOGITS, dim=0), $TARGETS)",
        },
    )
    | {"a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)")},
    shown_by=("initial_loss", "overfit_one_batch"),
    hints=(
        "What does an untrained model's loss cost with 8, with 32 and with 128 samples in a batch?",
        "Exponentiate what enters the last step of the loss. Which sums are 1?",
        "Name the axes of the logits, and then read every number that stands for one.",
    ),
    look_alikes=(
        LookAlike(
            "loss/double_softmax",
            "Add up the probabilities that the loss uses, along the rows and down the columns.",
            "The columns sum to 1: `output_gradient.column_sum < 0.001`.",
            "The rows sum to 1: `output_gradient.column_sum > 0.001`.",
        ),
        LookAlike(
            "initialisation/confident_head",
            "Compute the first loss once more with half of the batch.",
            "It is lower by ln 2.",
            "It is about the same.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html",),
)
