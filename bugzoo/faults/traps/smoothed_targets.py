"""The loss falls, then plateaus far above zero, although accuracy is high. What keeps the loss up?"""

from bugzoo.faults.idioms import LOSS, STEP
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, either, rewrite

LINE = "F.cross_entropy($LOGITS, $TARGETS, label_smoothing=$S)"
SUM = 'F.cross_entropy($LOGITS, $TARGETS, label_smoothing=$S, reduction="sum")'
SPREAD = "$S * F.log_softmax($LOGITS, dim=-1).mean(-1)"

FAULT = Fault(
    title="High loss floor under label smoothing",
    level=3,
    symptom="none",
    trap=True,
    params={
        "smoothing": Param(0.1, 0.02, 0.2, "label_smoothing: share of each target that is spread over all classes")
    },
    edits=rewrite(LOSS, TARGETS="$TARGETS, label_smoothing=$smoothing"),
    evidence=(),
    effect="none",
    why=(
        "With ten classes, label smoothing of 0.1 gives the right class a target of 0.91 and each other class 0.01. "
        "The lowest loss against such targets is their own entropy, 0.5 nats, not 0. So the floor is part of the "
        "loss. Do not compare this loss with one without smoothing. Compare accuracy, or the plain loss on validation "
        "data."
    ),
    fix="Nothing needs repair. Judge the model by a number without smoothing, such as accuracy.",
    repairs={
        "as two terms": either(
            Swap(LINE, f"(1 - $S) * F.cross_entropy($LOGITS, $TARGETS) - {SPREAD}.mean()"),
            Swap(
                f"{SUM} / $N", f'((1 - $S) * F.cross_entropy($LOGITS, $TARGETS, reduction="sum") - {SPREAD}.sum()) / $N'
            ),
        ),
        "as a criterion": either(
            Swap(LINE, "nn.CrossEntropyLoss(label_smoothing=$S)($LOGITS, $TARGETS)"),
            Swap(SUM, 'nn.CrossEntropyLoss(label_smoothing=$S, reduction="sum")($LOGITS, $TARGETS)'),
        ),
    },
    pretences={
        "floor taken off": Swap(LINE, f"{LINE} - 0.5"),
        "smoothed by the half": either(
            Swap(LINE, "F.cross_entropy($LOGITS, $TARGETS, label_smoothing=0.9)"),
            Swap(SUM, SUM.replace("$S", "0.9")),
        ),
        "sharper": either(
            Swap(LINE, "F.cross_entropy(4 * $LOGITS, $TARGETS, label_smoothing=$S)"),
            Swap(SUM, SUM.replace("$LOGITS", "4 * $LOGITS")),
        ),
        "a gradient cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)"),
    },
    shown_by=("loss_curve", "double_normalisation"),
    hints=(
        "What is the lowest loss that a perfect classifier could reach here?",
        "Compare the training loss with the plain cross-entropy on the same samples.",
        "Read every argument on the line that computes the loss.",
    ),
    look_alikes=(
        LookAlike(
            "loss/double_softmax",
            "For each sample, add up what enters the loss over all classes.",
            "The sums have no common value: `double_normalisation.softmax_before_loss < 0.5`.",
            "Each sum is 1: `double_normalisation.softmax_before_loss > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Count how often the model is right, instead of looking at its loss.",
            "The model is right as often as it should be.",
            "The model is hardly better than chance.",
        ),
    ),
    sources=(
        "https://arxiv.org/abs/1512.00567",
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
    ),
    terms=("label smoothing",),
)
