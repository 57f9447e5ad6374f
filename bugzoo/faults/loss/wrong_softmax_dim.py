"""The loss starts above that of guessing and falls, but its value depends on how many samples a batch has."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "F.nll_loss(F.log_softmax($LOGITS, dim=0), $TARGETS)"

FAULT = Fault(
    title="Softmax over the batch dimension (dim=0)",
    level=3,
    symptom="degraded",
    edits=rewrite(LOSS, PLACE="$F.nll_loss($F.log_softmax($LOGITS, dim=0), $TARGETS)"),
    not_on={
        "sequence_classifier": (
            "it has two classes, and its loss is above the healthy one on only 2 of 5 seeds (measured)."
        ),
        "amp_transformer": "its loss is a sum over a share of an update, and this edit would turn it into a mean.",
        "data_parallel": "the instrument re-runs a step, and one of several ranks cannot re-run its step alone.",
        "sentiment_lstm": (
            "it has two classes: its last loss is within 0.03 nats of the healthy one, and below it on 2 of 5 seeds."
        ),
    },
    evidence=("output_gradient.column_sum < 0.001",),
    effect="metrics.loss > healthy",
    why=(
        "dim=0 is the batch dimension: the 32 samples compete for each class, instead of the 10 classes for each "
        "sample. A sample's output now depends on the other samples in the batch. The loss of guessing is ln 32 = 3.47 "
        "instead of ln 10 = 2.30. Several samples of one class must share one probability of 1, so the loss cannot "
        "come near 0."
    ),
    fix=(
        "Write F.log_softmax(logits, dim=-1), over the classes. F.cross_entropy(logits, targets) is better and "
        "needs no dim."
    ),
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
        "Compute the loss of an untrained model with 8, 32 and 128 samples in a batch. Should the loss change?",
        "Apply exp() to the tensor that enters the last step of the loss, and sum along each axis. Which sums are 1?",
        "Name the axes of the logits. Then check every number in the line of the loss that selects an axis.",
    ),
    look_alikes=(
        LookAlike(
            "loss/double_softmax",
            "Sum the probabilities that the loss uses, along the rows and down the columns.",
            "The columns sum to 1: `output_gradient.column_sum < 0.001`.",
            "The rows sum to 1: `output_gradient.column_sum > 0.001`.",
        ),
        LookAlike(
            "initialisation/confident_head",
            "Compute the first loss again with half of the samples of the batch.",
            "The loss is lower by ln 2.",
            "The loss is about the same.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html",),
    cause=Cause(either={words.DIMENSION: {}}),
    terms=("softmax", "probabilities"),
)
