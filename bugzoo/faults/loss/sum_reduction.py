"""The loss starts at thirty times the loss of guessing. With another batch size, training behaves differently."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = 'F.cross_entropy($LOGITS, $TARGETS, reduction="sum")'
STATEMENT = f"$LOSS = {LINE}"

FAULT = Fault(
    title="Loss summed over the batch (reduction='sum')",
    level=2,
    symptom="degraded",
    edits=rewrite(LOSS, TARGETS='$TARGETS, reduction="sum"'),
    not_on={"amp_transformer": "its loss is already a sum, divided by the tokens of a whole update."},
    evidence=("initial_loss.ratio > 3",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "The sum over N rows is N times the mean, and its gradient is N times as large too. For SGD, 32 rows mean "
        "32 times the learning rate. Adam divides by the size of the gradient and hides the factor. But max_norm in "
        "gradient clipping, weight decay, eps and a second loss no longer fit. A short last batch also counts for "
        "less."
    ),
    fix="Use the default, reduction='mean'. Or divide the sum by the number of targets that count.",
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
        "Compute the loss of guessing, ln C. How many times larger is the loss of the first step?",
        "Halve the batch size and look at the first loss again. Should the first loss change?",
        "Find out how the losses of the single samples become one number.",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/confident_head",
            "Compute the loss of the untrained model on one sample alone, then on the whole batch.",
            "The loss of the batch is larger by a factor of the batch size.",
            "Both losses are the same, far above that of guessing.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the loss of the very first batch, before the first optimizer step.",
            "The loss is many times that of guessing: `initial_loss.ratio > 3`.",
            "The loss is that of guessing: `initial_loss.ratio < 3`.",
        ),
        LookAlike(
            "loop/stale_gradients",
            "At one step, compare the gradient before optimizer.step() with that of the last batch alone.",
            "The gradient comes from the last batch alone: `fresh_gradient.stale_share < 0.5`.",
            "The gradient also contains older batches: `fresh_gradient.stale_share > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
    cause=Cause(words.REDUCTION, also=("sum instead of mean", "wrong reduction")),
    terms=("reduction", "initial loss"),
    beside={
        "mlp": ("optimizer/lr_too_high",),
        "digits_cnn": ("optimizer/lr_too_low", "optimizer/lr_too_high"),
        "checkpointed_mlp": ("optimizer/lr_too_high",),
    },
)
