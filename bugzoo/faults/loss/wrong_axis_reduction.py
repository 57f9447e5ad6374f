"""Written out by hand, the loss should be the usual one. It is a few times as high, and depends on the size of the batch."""

from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

EACH = "F.one_hot($TARGETS, $WIDE.shape[-1]) * F.log_softmax($LOGITS, dim=-1)"
LINE = f"-({EACH}).sum(0).mean()"

FAULT = Fault(
    title="Summed over the samples and averaged over the classes",
    level=4,
    symptom="degraded",
    edits=rewrite(
        LOSS,
        PLACE="-($F.one_hot($TARGETS, ($LOGITS).shape[-1]) * $F.log_softmax($LOGITS, dim=-1)).sum(0).mean()",
    ),
    not_on={
        "amp_transformer": "its loss is a sum over a share of an update, which this edit would make another one.",
        "data_parallel": "one of several ranks cannot run its step again, which is how this is seen.",
    },
    evidence=("output_gradient.weight > 2.5",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "Of each row one log-probability counts: summed over the classes, averaged over the samples. The other way round the "
        "same numbers are divided by C and not by N, which is N/C times as much: 3.2 for 32 samples and 10 classes, 16 for "
        "two. Adam forgives a factor; a limit on the gradient, a second loss and a short last batch do not."
    ),
    fix="sum(-1) over the classes and then mean() over the samples; name the axis in every reduction.",
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
        "Compute the loss of one batch with torch's own function and lay the two numbers side by side.",
        "Take half of a batch. Should the loss change, and by how much does it?",
        "Say for each reduction in that line which axis goes, and what is left.",
    ),
    look_alikes=(
        LookAlike(
            "loss/sum_reduction",
            "Divide the first loss by that of guessing, and compare with samples and classes.",
            "Samples over classes: `output_gradient.column_sum > 0.001`.",
            "As many as there are samples: `initial_loss.ratio > 3`.",
        ),
        LookAlike(
            "initialisation/confident_head",
            "Compute the loss of the same answers with torch's own cross-entropy.",
            "It is that of guessing.",
            "It is just as high.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
)
