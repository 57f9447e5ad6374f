"""Since each class has a weight, the loss is far too high, although all weights are 1. The accuracy is as before."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, LOSS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

TABLE = "counted = torch.ones(10, 1)"
EACH = 'F.cross_entropy($LOGITS, $TARGETS, reduction="none")'
LINE = f"$LOSS = ({EACH} * kept).sum() / kept.sum()"

FAULT = Fault(
    title="Class weights (C, 1) broadcast against losses (N,)",
    level=3,
    symptom="degraded",
    edits=(
        Swap(
            "validation_loader = DataLoader($$$REST)",
            f"validation_loader = DataLoader($$$REST)\n{TABLE}  # a row for each digit; a 0 leaves it out",
            where="labels = $LABELS",
        ),
        rewrite(
            LOSS,
            PLACE='($F.cross_entropy($LOGITS, $TARGETS, reduction="none") * kept).sum() / kept.sum()',
        ),
        Swap("optimizer.zero_grad()", "optimizer.zero_grad()\nkept = counted.to(device)[targets]"),
    ),
    not_on={
        "data_parallel": "the instrument re-runs a step, and one of several ranks cannot re-run its step alone.",
    },
    evidence=("output_gradient.weight > 2.5",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "The table has a row for each class and one column, so a look-up gives weights (N, 1). Times losses (N,) that is no "
        "list of N products: broadcasting stretches both to (N, N), every loss times every weight. The sum holds each loss N "
        "times and is divided by N, so 32 samples cost 32 times as much. Adam divides by the size of the gradient, so the "
        "accuracy stays. No class would be left out, either: a 0 lowers all losses alike."
    ),
    fix=(
        "Give both tensors the same shape: a table torch.ones(10). Write assert losses.shape == kept.shape before the "
        "product. Or let F.cross_entropy do it, with weight=..."
    ),
    repairs={
        "a table without a column": Swap(TABLE, "counted = torch.ones(10)"),
        "both with the axis": Swap(LINE, f"$LOSS = ({EACH}.unsqueeze(-1) * kept).sum() / kept.sum()"),
        "the axis taken away": Swap("kept = $T[targets]", "kept = $T[targets].squeeze(-1)"),
        "the loss's own way": Swap(
            LINE, "$LOSS = F.cross_entropy($LOGITS, $TARGETS, weight=counted.to(device).flatten())"
        ),
    },
    pretences=instead(
        LINE,
        {
            "the other way round": f"$LOSS = (kept * {EACH}).sum() / kept.sum()",
            "a row in place of a column": f"$LOSS = ({EACH}.unsqueeze(-1) * kept.T).sum() / kept.sum()",
            "divided by three": f"$LOSS = ({EACH} * kept).sum() / kept.sum() / 3",
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
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/broadcasting.html",),
    cause=Cause(words.REDUCTION, either={words.DIMENSION: {}}),
    terms=("broadcasting", "reduction"),
)
