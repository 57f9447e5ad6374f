"""The hand-written cross-entropy is a few times higher than the built-in one. The loss also depends on the batch size."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

EACH = "F.one_hot($TARGETS, $WIDE.shape[-1]) * F.log_softmax($LOGITS, dim=-1)"
LINE = f"-({EACH}).sum(0).mean()"

FAULT = Fault(
    title="Loss summed over the batch, averaged over classes",
    level=4,
    symptom="degraded",
    edits=rewrite(
        LOSS,
        PLACE="-($F.one_hot($TARGETS, ($LOGITS).shape[-1]) * $F.log_softmax($LOGITS, dim=-1)).sum(0).mean()",
    ),
    not_on={
        "amp_transformer": (
            "its loss is a sum over a share of an update, and this edit would turn it into a different loss."
        ),
        "data_parallel": "the instrument re-runs a step, and one of several ranks cannot re-run its step alone.",
    },
    evidence=("output_gradient.weight > 2.5",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "In each row one log-probability counts. The right order is to sum over the classes and to average over the "
        "samples. The other way round, the sum is divided by C and not by N, so the loss is N/C times too large. "
        "For 32 samples, this factor is 3.2 with 10 classes and 16 with two. Adam tolerates a factor, but max_norm "
        "in gradient clipping, a second loss and a short last batch do not."
    ),
    fix="Write .sum(-1) over the classes and then .mean() over the samples. Name the axis in every reduction.",
    repairs=instead(
        LINE,
        {
            "the other axis": f"-({EACH}).sum(-1).mean()",
            "divided by the samples": f"-({EACH}).sum() / len($LOGITS)",
            "cross-entropy by torch": "F.cross_entropy($LOGITS, $TARGETS)",
        },
    ),
    pretences=instead(
        LINE,
        {
            "a sum of all": f"-({EACH}).sum()",
            "divided by three": f"-({EACH}).sum(0).mean() / 3 * 2.9",
            "the largest class alone": f"-({EACH}).sum(0).amin()",
        },
    )
    | {
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 3)"),
        "only what is shown": Swap("losses.append(loss.item())", "losses.append(loss.item() / 3)"),
    },
    shown_by=("initial_loss",),
    same_forward=True,
    hints=(
        "Compute the loss of one batch with F.cross_entropy, and compare the two numbers.",
        "Take half of a batch. Should the loss change, and by how much does it change?",
        "For each reduction in that line, say which axis disappears and which axis is left.",
    ),
    look_alikes=(
        LookAlike(
            "loss/sum_reduction",
            "Divide the first loss by ln C, and compare the factor with the numbers of samples and classes.",
            "The factor is samples over classes: `output_gradient.column_sum > 0.001`.",
            "The factor is the number of samples: `initial_loss.ratio > 3`.",
        ),
        LookAlike(
            "loop/stale_gradients",
            "At one step, compare the gradient before optimizer.step() with that of the last batch alone.",
            "The gradient comes from the last batch alone: `fresh_gradient.stale_share < 0.5`.",
            "The gradient also contains older batches: `fresh_gradient.stale_share > 0.5`.",
        ),
        LookAlike(
            "initialisation/confident_head",
            "Compute the loss of the same logits with F.cross_entropy.",
            "The loss of F.cross_entropy is that of guessing.",
            "The loss of F.cross_entropy is equally high.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
    cause=Cause(words.REDUCTION, either={words.DIMENSION: {}}),
    terms=("reduction", "cross-entropy"),
    beside={"sequence_classifier": ("optimizer/rmsprop_momentum",)},
)
