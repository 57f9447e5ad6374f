"""The training loss goes to nearly nothing, and on validation data almost every answer is wrong: fewer right than by guessing."""

from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "F.cross_entropy($LOGITS, ($TARGETS + 1) % $WIDE.shape[-1])"

FAULT = Fault(
    title="Labels that are off by one in training",
    level=3,
    symptom="degraded",
    edits=rewrite(LOSS, TARGETS="(($TARGETS) + 1) % ($LOGITS).shape[-1]"),
    not_on={
        "amp_transformer": "its loss is written with a reduction of its own, which the repairs and pretences here do not know.",
        "data_parallel": "one of several ranks cannot run its step again, which is how this is seen.",
    },
    evidence=("output_gradient.label_shift_share > 0.95",),
    effect="metrics.accuracy < healthy",
    why=(
        "Class numbers are names: shifted by one they are as easy to learn as the right ones, so that the loss falls to where it "
        "always does. Whoever evaluates with the labels as they are finds nearly every answer to be the neighbour of the right "
        "one: an accuracy near 0, far below the 1/C of guessing. Data sets that count their classes from 1 do this."
    ),
    fix="Use the same labels in training and evaluation, counted from 0; look at ten samples with label and answer.",
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
        "Worse than guessing is knowledge as well. What do the wrong answers have in common?",
        "Count for each true class which class is answered most often.",
        "Follow the labels from the data to the loss, and from the data to the accuracy.",
    ),
    look_alikes=(
        LookAlike(
            "loss/sign_flipped",
            "Compare the loss of the training with zero, at the start and at the end.",
            "It ends a little above: `loss_curve.falls_below_zero < 0.5`.",
            "It ends far below: `loss_curve.falls_below_zero > 0.5`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Evaluate the model on the very data that it was trained with.",
            "It is just as wrong there.",
            "There it is right.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
)
