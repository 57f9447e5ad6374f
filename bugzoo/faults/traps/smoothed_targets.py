"""The loss falls and stops far above zero, although accuracy is high. What keeps it there?"""

from bugzoo.faults.idioms import LOSS, STEP
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, either, rewrite

LINE = "F.cross_entropy($LOGITS, $TARGETS, label_smoothing=$S)"
SUM = 'F.cross_entropy($LOGITS, $TARGETS, label_smoothing=$S, reduction="sum")'
SPREAD = "$S * F.log_softmax($LOGITS, dim=-1).mean(-1)"

FAULT = Fault(
    title="A high loss under label smoothing",
    level=3,
    symptom="none",
    trap=True,
    params={"smoothing": Param(0.1, 0.02, 0.2, "share of each target that is spread over all classes")},
    edits=rewrite(LOSS, TARGETS="$TARGETS, label_smoothing=$smoothing"),
    evidence=(),
    effect="none",
    why=(
        "Smoothing by 0.1 gives the right class 0.91 of ten and each other one 0.01. The lowest loss against such targets is "
        "their own entropy, 0.5 nats for ten classes, not 0: the floor is part of the loss. Who divides by it or compares it "
        "with a run without smoothing compares two units; accuracy, and the plain loss on validation data, can be compared."
    ),
    fix="Nothing needs repair. Judge it by a number that knows nothing of the smoothing.",
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
        "Which is the lowest loss that a perfect classifier could reach here?",
        "Compare the training loss with the plain one on the same samples.",
        "Read every argument of the line that computes the loss.",
    ),
    look_alikes=(
        LookAlike(
            "loss/double_softmax",
            "Add up the rows of what enters the loss, over all classes.",
            "They add up to nothing in particular: `double_normalisation.softmax_before_loss < 0.5`.",
            "Each to 1: `double_normalisation.softmax_before_loss > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Ask how often the model is right, and not how high its loss is.",
            "As right as it should be.",
            "Hardly better than chance.",
        ),
    ),
    sources=(
        "https://arxiv.org/abs/1512.00567",
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
    ),
)
