"""The loss begins at thirty times what guessing costs, and another batch size gives another training."""

from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = 'F.cross_entropy($LOGITS, $TARGETS, reduction="sum")'
STATEMENT = f"$LOSS = {LINE}"

FAULT = Fault(
    title="A loss that is summed over the batch",
    level=2,
    symptom="degraded",
    edits=rewrite(LOSS, TARGETS='$TARGETS, reduction="sum"'),
    not_on={"amp_transformer": "its loss is a sum already, divided by the tokens of a whole update."},
    evidence=("initial_loss.ratio > 3",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "The sum over N rows is N times the mean, and so is its gradient: 32 rows are 32 times the learning rate for SGD. "
        "Adam divides by the size of the gradient and hides that, but whatever has a size of its own no longer fits: the "
        "limit of a clipping, weight decay, an eps, a second loss beside it. And a short last batch counts for less."
    ),
    fix="Take the mean, as the loss does by itself, or divide the sum by the number of targets that count.",
    repairs=instead(
        STATEMENT,
        {
            "divided by their number": '$LOSS = F.cross_entropy($LOGITS, $TARGETS, reduction="sum") / len($TARGETS)',
            "mean of each one's loss": '$LOSS = F.cross_entropy($LOGITS, $TARGETS, reduction="none").mean()',
            "log-softmax and nll": "$LOSS = F.nll_loss(F.log_softmax($LOGITS, dim=-1), $TARGETS)",
        },
    ),
    pretences={
        "the rate divided instead": rewrite(LEARNING_RATE, LR="fold($LR / 32)"),
        "only what is shown": Swap("losses.append(loss.item())", "losses.append(loss.item() / len(targets))"),
        "divided by the classes": Swap(STATEMENT, f"$LOSS = {LINE} / $LOGITS.shape[-1]"),
        "its root": Swap(STATEMENT, f"$LOSS = {LINE}.sqrt()"),
    },
    shown_by=("gradient_health",),
    hints=(
        "What does a model that knows nothing cost per sample, and what does the first step show?",
        "Halve the batch size and look at the first loss again. Should it change?",
        "Read what the loss does with the losses of the single samples.",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/confident_head",
            "Compute the loss of the untrained model on one sample alone, and then on the whole batch.",
            "The batch costs as many times more as it has samples.",
            "Both cost the same, far more than guessing.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the loss of the very first step, before anything in the model was changed.",
            "It is many times that of guessing: `initial_loss.ratio > 3`.",
            "It is that of guessing: `initial_loss.ratio < 3`.",
        ),
        LookAlike(
            "loop/stale_gradients",
            "At one step, compare the gradient at the optimiser with that of the last batch alone.",
            "It is the last batch's alone: `fresh_gradient.stale_share < 0.5`.",
            "It holds older batches as well: `fresh_gradient.stale_share > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
)
