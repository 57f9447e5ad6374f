"""Somebody applied log_softmax before cross-entropy. Is that the double softmax again?"""

from bugzoo.faults.idioms import LOSS
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="log_softmax fed to cross-entropy",
    level=3,
    symptom="none",
    trap=True,
    edits=rewrite(LOSS, LOGITS=("$F.log_softmax($LOGITS, dim=-1)", "($LOGITS).log_softmax(dim=-1)")),
    evidence=(),
    effect="none",
    why=(
        "log_softmax is idempotent: its output already sums to one after exp, so the second one subtracts log 1 = 0. The "
        "loss and its gradient are the same up to rounding; only a little time is lost."
    ),
    fix="Nothing needs repair. Removing the extra call saves a kernel.",
    hints=(
        "Compare the loss of this run with its twin's, step by step.",
        "What does log_softmax do to numbers that are log-probabilities already?",
        "Work out the second log_softmax on paper for two classes.",
    ),
    look_alikes=(
        LookAlike(
            "loss/double_softmax", "softmax twice squeezes the logits into 0..1; log_softmax twice changes nothing."
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html",),
)
