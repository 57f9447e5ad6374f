"""The loss falls and falls, far below zero, and the accuracy falls with it: below that of guessing."""

from bugzoo.faults.idioms import BACKWARD, LOSS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "$LOSS = -F.cross_entropy($LOGITS, $TARGETS)"

FAULT = Fault(
    title="The loss has the wrong sign",
    level=1,
    symptom="diverges",
    edits=rewrite(LOSS, PLACE="-$PLACE"),
    not_on={
        "amp_transformer": "its loss is divided by half a million tokens, so that the curve stays within 0.05 of zero."
    },
    evidence=("loss_curve.falls_below_zero > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "The optimiser does what it always does, it makes the number smaller; here that number is minus the cross-entropy, so "
        "it learns to be sure of anything but the right class. Cross-entropy has a floor at 0 and no ceiling: upwards there "
        "is no end, and the weights grow with every step."
    ),
    fix="Descend on the cross-entropy itself: it is minus a log-probability already.",
    repairs={
        "backward on its opposite": rewrite(BACKWARD, LOSS="(-$LOSS)"),
    }
    | instead(
        LINE,
        {
            "log-softmax and nll": "$LOSS = F.nll_loss(F.log_softmax($LOGITS, dim=-1), $TARGETS)",
            "minus a log-probability": (
                "$LOSS = -F.log_softmax($LOGITS, dim=-1).gather(-1, ($TARGETS).unsqueeze(-1)).mean()"
            ),
        },
    ),
    pretences=instead(
        LINE,
        {
            "never below zero": "$LOSS = torch.relu(-F.cross_entropy($LOGITS, $TARGETS))",
            "bounded": "$LOSS = torch.exp(-F.cross_entropy($LOGITS, $TARGETS))",
        },
    )
    | {"only what is shown": Swap("losses.append(loss.item())", "losses.append(-loss.item())")},
    shown_by=("initial_loss", "overfit_one_batch"),
    hints=(
        "Below which number can this loss not lie, whatever the model answers?",
        "Compute the loss by hand for one sample, from its logits and its label, and lay it beside the program's.",
        "Look at the line of the loss once more, character by character.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Look whether the loss that the optimiser is given lies above or below zero.",
            "Below, further with each step: `loss_curve.falls_below_zero > 0.5`.",
            "Above, as it must: `loss_curve.falls_below_zero < 0.5`.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "Compare the loss of the training with zero, at the start and at the end.",
            "It ends far below: `loss_curve.falls_below_zero > 0.5`.",
            "It ends a little above: `loss_curve.falls_below_zero < 0.5`.",
        ),
        LookAlike(
            "data/labels_out_of_sync",
            "Look at the accuracy on the training data after an epoch, beside that of guessing.",
            "It is clearly worse than guessing.",
            "It is that of guessing.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",),
)
