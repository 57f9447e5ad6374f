"""Since the loss leaves some targets out, by a mask, it is as many times too high as the batch has targets."""

from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead, rewrite

MASK = "counted = $WHICH.float().unsqueeze(-1)"
EACH = 'F.cross_entropy($LOGITS, $TARGETS, reduction="none")'
LINE = f"$LOSS = ({EACH} * counted).sum() / counted.sum()"

FAULT = Fault(
    title="A mask of another shape than the losses that it masks",
    level=3,
    symptom="degraded",
    edits=(
        before(LOSS, "counted = ($TARGETS >= 0).float().unsqueeze(-1)"),
        rewrite(LOSS, PLACE='($F.cross_entropy($LOGITS, $TARGETS, reduction="none") * counted).sum() / counted.sum()'),
    ),
    not_on={
        "amp_transformer": "its loss is a sum over a share of an update, which this edit would make another one.",
        "data_parallel": "one of several ranks cannot run its step again, which is how this is seen.",
    },
    evidence=("output_gradient.weight > 2.5",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "A mask (N, 1) times losses (N,) is no row of N products: both are stretched to (N, N), every loss beside every mask. "
        "The sum holds each loss N times and is divided by N, so that 32 samples cost 32 times as much. Nothing is left "
        "out either: a 0 in the mask takes a share from all losses, and not one loss. With mean() in place of the division "
        "the size is right, and only that is wrong."
    ),
    fix="Give both one shape, and say so: assert losses.shape == counted.shape, in front of the product.",
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
        "What does a model that knows nothing cost per sample, and what does the first step show?",
        "Print the shape of every tensor between the answers and the loss, each beside what you expect.",
        "Look for a product of two tensors that have another number of axes.",
    ),
    look_alikes=(
        LookAlike(
            "loss/sum_reduction",
            "Print the shape of what is added up in the loss, in the line before it is.",
            "(N, N), for N samples: `output_gradient.weight > 2.5`.",
            "(N,): `initial_loss.ratio > 3`.",
        ),
        LookAlike(
            "loss/wrong_axis_reduction",
            "Divide the first loss by that of guessing, and compare with samples and classes.",
            "As many as there are samples: `initial_loss.ratio > 20`.",
            "Samples over classes: `initial_loss.ratio < 20`.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/broadcasting.html",),
)
