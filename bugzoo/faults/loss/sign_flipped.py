"""The loss keeps falling, far below zero. Accuracy falls too, below chance."""

from bugzoo.faults.idioms import BACKWARD, LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "$LOSS = -F.cross_entropy($LOGITS, $TARGETS)"

FAULT = Fault(
    title="Loss with the wrong sign",
    level=1,
    symptom="diverges",
    edits=rewrite(LOSS, PLACE="-$PLACE"),
    not_on={"amp_transformer": "its loss is divided by half a million tokens, so the curve stays within 0.05 of zero."},
    evidence=("loss_curve.falls_below_zero > 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "The optimizer minimizes the number that it gets, and here that number is minus the cross-entropy. So the "
        "model learns to be confident of any class but the right one. Cross-entropy has a floor at 0 and no "
        "ceiling. Maximizing cross-entropy never ends, and the weights grow with every step."
    ),
    fix=(
        "Write loss = F.cross_entropy(logits, targets), without a minus. Cross-entropy is already minus a "
        "log-probability."
    ),
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
        "Below which number can this loss never fall, whatever the model predicts?",
        "Compute the loss of one sample by hand, from its logits and its label. Compare it with the program's loss.",
        "Read the line of the loss once more, character by character.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Check whether the loss that the optimizer minimizes is above or below zero.",
            "The loss is below zero, further with each step: `loss_curve.falls_below_zero > 0.5`.",
            "The loss is above zero, as it must be: `loss_curve.falls_below_zero < 0.5`.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "Compare the training loss with zero, at the start and at the end.",
            "The loss ends far below zero: `loss_curve.falls_below_zero > 0.5`.",
            "The loss ends a little above zero: `loss_curve.falls_below_zero < 0.5`.",
        ),
        LookAlike(
            "data/labels_out_of_sync",
            "Compare the accuracy on the training data after one epoch with that of guessing.",
            "The accuracy is clearly worse than that of guessing.",
            "The accuracy is that of guessing.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html",),
    cause=Cause(
        "a loss that is maximized",
        also=("wrong sign", "sign of the loss", "gradient ascent"),
        explains=("optimizer/", "clipping/", "numerics/", "initialisation/"),
    ),
    terms=("perplexity", "gradient ascent", "divergence"),
)
