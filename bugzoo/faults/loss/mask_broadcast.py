"""Since I left some targets out of the loss, the loss is far too high. The factor is the number of targets in the batch."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead, rewrite

MASK = "counted = $WHICH.float().unsqueeze(-1)"
EACH = 'F.cross_entropy($LOGITS, $TARGETS, reduction="none")'
LINE = f"$LOSS = ({EACH} * counted).sum() / counted.sum()"

FAULT = Fault(
    title="Mask (N, 1) broadcast against losses (N,)",
    level=3,
    symptom="degraded",
    edits=(
        before(LOSS, "counted = ($TARGETS >= 0).float().unsqueeze(-1)"),
        rewrite(LOSS, PLACE='($F.cross_entropy($LOGITS, $TARGETS, reduction="none") * counted).sum() / counted.sum()'),
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
        "A mask (N, 1) times losses (N,) does not give N products. Broadcasting stretches both to (N, N), every "
        "loss times every mask value. The sum holds each loss N times and is divided by N, so 32 samples cost 32 "
        "times as much. Nothing is left out either: each loss is multiplied by the sum of the mask, and the division "
        "takes that factor back. With mean() in place of the division, the size is right and only the masking is wrong."
    ),
    fix=(
        "Give both tensors the same shape by dropping unsqueeze(-1). Write assert losses.shape == counted.shape "
        "before the product."
    ),
    repairs={
        "no further axis": Swap(MASK, "counted = $WHICH.float()"),
        "both with the axis": Swap(LINE, f"$LOSS = ({EACH}.unsqueeze(-1) * counted).sum() / counted.sum()"),
        "chosen by the mask": Swap(LINE, f"$LOSS = {EACH}[counted.squeeze(-1) > 0].mean()"),
        "the loss's own way": Swap(LINE, "$LOSS = F.cross_entropy($LOGITS, $TARGETS, ignore_index=-100)"),
    },
    pretences=instead(
        LINE,
        {
            "the other way round": f"$LOSS = (counted * {EACH}).sum() / counted.sum()",
            "a row in place of a column": f"$LOSS = ({EACH}.unsqueeze(-1) * counted.T).sum() / counted.sum()",
            "divided by three": f"$LOSS = ({EACH} * counted).sum() / counted.sum() / 3",
        },
    )
    | {
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 32)"),
        "only what is shown": Swap("losses.append(loss.item())", "losses.append(loss.item() / len(targets))"),
    },
    shown_by=("initial_loss", "gradient_health"),
    hints=(
        "Compute the loss of guessing, ln C. How many times larger is the loss of the first step?",
        "Print the shape of every tensor between the logits and the loss, next to the shape that you expect.",
        "Find a product of two tensors that have a different number of axes. Which shape does the product have?",
    ),
    look_alikes=(
        LookAlike(
            "loss/sum_reduction",
            "Print the shape of the tensor that the loss adds up, right before the sum.",
            "The shape is (N, N) for N samples: `output_gradient.weight > 2.5`.",
            "The shape is (N,): `initial_loss.ratio > 3`.",
        ),
        LookAlike(
            "loss/wrong_axis_reduction",
            "Divide the first loss by ln C, and compare the factor with the numbers of samples and classes.",
            "The factor is the number of samples: `initial_loss.ratio > 20`.",
            "The factor is samples over classes: `initial_loss.ratio < 20`.",
        ),
        LookAlike(
            "initialisation/confident_head",
            "Compute the loss of the untrained model on one sample alone, then on the whole batch.",
            "The loss of the batch is larger by a factor of the batch size.",
            "Both losses are the same, far above that of guessing.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/broadcasting.html",),
    cause=Cause(words.REDUCTION, either={words.DIMENSION: {}}),
    terms=("broadcasting", "reduction"),
)
