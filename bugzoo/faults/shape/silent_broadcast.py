"""The reported accuracy is far above 1. The model gets several hundred of a hundred samples right."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

RIGHT = "correct += ($LOGITS.argmax(-1) == targets).sum().item()"
WIDE = "correct += ($LOGITS.argmax(-1, keepdim=True) == targets).sum().item()"
NO_ACCESS = "its model is in two processes that have ended, so reported_metric cannot run the model again."

FAULT = Fault(
    title="argmax(keepdim=True) broadcast against targets",
    level=3,
    symptom="too_good",
    edits=Swap(RIGHT, WIDE),
    not_on={"data_parallel": NO_ACCESS}
    | {
        name: "its targets have two axes, and (64, 32, 1) does not broadcast with (64, 32): a crash, which is another symptom."
        for name in ("amp_transformer", "mini_transformer", "sampler")
    },
    evidence=("reported_metric.gap > 0.5",),
    effect="metrics.accuracy > healthy",
    why=(
        "keepdim=True leaves the predictions as a column, (256, 1), and the targets are (256,). The comparison "
        "broadcasts both to (256, 256): every prediction against every target. With C classes about one pair in C "
        "agrees, so the sum counts 6,500 instead of 240. PyTorch raises no error. An accuracy above 1 is easy to "
        "notice, but a mean would have hidden the mistake."
    ),
    fix=(
        "Write logits.argmax(-1) == targets, without keepdim=True. Assert that both shapes are equal before the "
        "comparison."
    ),
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
        "How large can an accuracy be at most, and which line can give a larger one?",
        "Print the shape of both sides of the comparison, and of its result.",
        "Take the last batch and go through the lines that count correct predictions.",
    ),
    look_alikes=(
        LookAlike(
            "metrics/argmax_over_wrong_dim",
            "Count the pairs that the script compares for a batch of 256.",
            (
                "The script compares 65,536 pairs, and more agree than there are samples: "
                "`reported_metric.reported > 1`."
            ),
            "The script compares 256 pairs, and hardly any agree: `reported_metric.reported < 1`.",
        ),
        LookAlike(
            "metrics/metric_not_reset",
            "Set the counters to 0 right before the evaluation loop, and evaluate once.",
            "The accuracy is as far above 1 as before.",
            "The accuracy is right.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/broadcasting.html",),
    terms=("broadcasting",),
)
