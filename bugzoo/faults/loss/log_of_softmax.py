"""The loss stays at that of guessing. With each epoch the predictions become more alike."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "-torch.log(F.softmax($LOGITS, dim=-1)).mean()"
ROWS = "torch.arange(len($LOGITS)), targets.flatten()"

FAULT = Fault(
    title="Hand-written cross-entropy ignores the labels",
    level=3,
    symptom="stuck",
    edits=rewrite(LOSS, PLACE="-torch.log($F.softmax($LOGITS, dim=-1)).mean()"),
    not_on={
        "amp_transformer": "its loss is a sum over a share of an update, and this edit would turn it into a mean.",
        "data_parallel": "the instrument re-runs a step, and one of several ranks cannot re-run its step alone.",
        "sentiment_lstm": (
            "it has two classes: a pull toward equal probabilities looks the same as a pull toward the less likely "
            "class."
        ),
        "sequence_classifier": (
            "it has two classes: a pull toward equal probabilities looks the same as a pull toward the less likely "
            "class."
        ),
    },
    evidence=("output_gradient.even_share > 0.999",),
    effect="metrics.loss > healthy",
    why=(
        "Cross-entropy is minus the log-probability of the label, one number per row. The mean over the whole "
        "matrix does not depend on any label. This mean is smallest, ln C, where all classes are equally likely, "
        "and the model learns exactly that. Also, the logarithm of a softmax is -inf as soon as a probability "
        "underflows. log_softmax avoids this."
    ),
    fix=(
        "Write F.cross_entropy(logits, targets). Or pass F.log_softmax(logits, dim=-1) and the targets to F.nll_loss."
    ),
    repairs=instead(
        LINE,
        {
            "cross-entropy": "F.cross_entropy($LOGITS, targets.flatten())",
            "log-softmax and nll": "F.nll_loss(F.log_softmax($LOGITS, dim=-1), targets.flatten())",
            "the labels' own": f"-F.log_softmax($LOGITS, dim=-1)[{ROWS}].mean()",
        },
    ),
    pretences=instead(
        LINE,
        {
            "log_softmax": "-F.log_softmax($LOGITS, dim=-1).mean()",
            "the most likely of each row": "-torch.log(F.softmax($LOGITS, dim=-1)).amin(-1).mean()",
            "the sum of each row": "-torch.log(F.softmax($LOGITS, dim=-1)).sum(-1).mean()",
        },
    )
    | {"a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 10)")},
    shown_by=("overfit_one_batch", "loss_curve"),
    hints=(
        "Swap the targets of two samples. Does the loss change?",
        "For which predictions is this loss as low as it can be?",
        "Read the line of the loss. List all that a loss should depend on, and find each item in that line.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Give one batch random labels, and compute its loss again.",
            "The loss is the same number.",
            "The loss is a different number.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Compare the predictions for ten samples before and after training.",
            "The predictions have become alike: `learning_rate_log.update_ratio > 3e-5`.",
            "The predictions have not changed: `learning_rate_log.update_ratio < 3e-5`.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "For each row, find the class that the gradient of the loss makes more likely.",
            "The loss raises the least likely classes: `output_gradient.even_share > 0.999`.",
            "The loss raises the class next to the label: `output_gradient.even_share < 0.999`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",),
    cause=Cause(either={words.REDUCTION: {}, words.DOMAIN: {}}),
    terms=("cross-entropy", "NLL loss", "plateau"),
)
