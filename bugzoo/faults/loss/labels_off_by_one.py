"""The training loss falls to nearly zero. On the validation set, accuracy is far below chance."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "F.cross_entropy($LOGITS, ($TARGETS + 1) % $WIDE.shape[-1])"

FAULT = Fault(
    title="Class labels off by one",
    level=3,
    symptom="degraded",
    edits=rewrite(LOSS, TARGETS="(($TARGETS) + 1) % ($LOGITS).shape[-1]"),
    not_on={
        "amp_transformer": "its loss has its own reduction, which the repairs here do not handle.",
        "data_parallel": "the instrument re-runs a step, and one of several ranks cannot re-run its step alone.",
    },
    evidence=("output_gradient.label_shift_share > 0.95",),
    effect="metrics.accuracy < healthy",
    why=(
        "Class numbers are only names. Labels shifted by one are as easy to learn, so the training loss falls as "
        "usual. The evaluation uses unshifted labels, so nearly every prediction is the neighbor of the right "
        "class. Accuracy is near 0, far below the 1/C of guessing. Datasets that count their classes from 1 cause "
        "this."
    ),
    fix=(
        "Pass the targets to the loss unshifted: the same labels in training and evaluation, counted from 0. Print "
        "ten samples with label and prediction."
    ),
    repairs=instead(
        LINE,
        {
            "log-softmax and nll": "F.nll_loss(F.log_softmax($LOGITS, dim=-1), $TARGETS)",
            "shifted back": "F.cross_entropy($LOGITS, ($TARGETS + $WIDE.shape[-1]) % $WIDE.shape[-1])",
        },
    ),
    pretences=instead(
        LINE,
        {
            "off to the other side": "F.cross_entropy($LOGITS, ($TARGETS - 1) % $WIDE.shape[-1])",
            "both, half and half": (
                "(F.cross_entropy($LOGITS, ($TARGETS + 1) % $WIDE.shape[-1]) + F.cross_entropy($LOGITS, $TARGETS)) / 2"
            ),
            "smoothed": "F.cross_entropy($LOGITS, ($TARGETS + 1) % $WIDE.shape[-1], label_smoothing=0.1)",
        },
    )
    | {
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 2)"),
        "evaluated the same way": Swap(
            "(logits.argmax(-1) == targets).sum()", "((logits.argmax(-1) - 1) % logits.shape[-1] == targets).sum()"
        ),
    },
    shown_by=("data_inspection",),
    hints=(
        "Accuracy below chance is information too. What do the wrong predictions have in common?",
        "For each true class, count which class the model predicts most often (a confusion matrix).",
        "Follow the targets from the data to the loss, and from the data to the accuracy. Are the numbers the same?",
    ),
    look_alikes=(
        LookAlike(
            "loss/sign_flipped",
            "Compare the training loss with zero, at the start and at the end.",
            "The loss ends a little above zero: `loss_curve.falls_below_zero < 0.5`.",
            "The loss ends far below zero: `loss_curve.falls_below_zero > 0.5`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Evaluate the model on the same data that it was trained on.",
            "The predictions are equally wrong on the training data.",
            "The predictions are right on the training data.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
    cause=Cause(words.DATA),
    terms=("confusion matrix",),
)
