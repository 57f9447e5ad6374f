"""The model gets several hundred of a hundred samples right: the reported accuracy is far above 1."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

RIGHT = "correct += ($LOGITS.argmax(-1) == targets).sum().item()"
WIDE = "correct += ($LOGITS.argmax(-1, keepdim=True) == targets).sum().item()"
NO_ACCESS = "its model belongs to two processes that have ended, so that reported_metric cannot ask it again."

FAULT = Fault(
    title="A column compared with a row",
    level=3,
    symptom="too_good",
    edits=Swap(RIGHT, WIDE),
    not_on={"data_parallel": NO_ACCESS}
    | {
        name: "its targets have two axes, and (64, 32, 1) does not go with (64, 32): it crashes, which is another symptom."
        for name in ("amp_transformer", "mini_transformer", "sampler")
    },
    evidence=("reported_metric.gap > 0.5",),
    effect="metrics.accuracy > healthy",
    why=(
        "keepdim leaves the answers as a column, (256, 1), and the targets are (256,). Compared, both are stretched to "
        "(256, 256): every answer against every target, and with C classes about one pair in C agrees. The sum counts 6,500 "
        "in place of 240, and no shape complains. With an accuracy above 1 everybody sees it; a mean would have hidden it."
    ),
    fix="Compare tensors of one shape; an assert on both shapes in front of the comparison costs nothing.",
    repairs=instead(
        WIDE,
        {
            "the axis dropped": "correct += ($LOGITS.argmax(-1, keepdim=True).squeeze(-1) == targets).sum().item()",
            "both as columns": "correct += ($LOGITS.argmax(-1, keepdim=True) == targets[:, None]).sum().item()",
            "the column flattened": "correct += torch.eq($LOGITS.argmax(-1, keepdim=True).flatten(), targets).sum().item()",
        },
    ),
    pretences=instead(
        WIDE,
        {
            "divided by the batch": "correct += ($LOGITS.argmax(-1, keepdim=True) == targets).sum().item() / len(targets)",
            "cut off at the top": (
                "correct += min(($LOGITS.argmax(-1, keepdim=True) == targets).sum().item(), len(targets))"
            ),
            "any of them": "correct += ($LOGITS.argmax(-1, keepdim=True) == targets).any(0).sum().item()",
        },
    ),
    hints=(
        "Which is the largest number that an accuracy can be, and where does a larger one come from?",
        "Write down the shape of both sides of the comparison, and of what comes out of it.",
        "Take the last batch and look at the lines that count.",
    ),
    look_alikes=(
        LookAlike(
            "metrics/argmax_over_wrong_dim",
            "Write down how many numbers are compared for a batch of 256.",
            "65,536, and more agree than there are samples: `reported_metric.reported > 1`.",
            "256, and hardly any agrees: `reported_metric.reported < 1`.",
        ),
        LookAlike(
            "metrics/metric_not_reset",
            "Evaluate once, with counts that begin at 0 right in front of the loop.",
            "It is as far above 1 as before.",
            "It is right.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/broadcasting.html",),
)
