"""The loss goes down a little and then lies flat, far above zero. Accuracy looks fair, and more epochs do not help."""

from bugzoo.faults.idioms import LOSS
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="Softmax before a loss that already contains one",
    level=2,
    symptom="plateau",
    edits=rewrite(LOSS, LOGITS=("$F.softmax($LOGITS, dim=-1)", "($LOGITS).softmax(dim=-1)")),
    evidence=("double_normalisation.softmax_before_loss > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Cross-entropy takes logits and applies log-softmax itself. Fed with probabilities, which lie between 0 and 1, "
        "its own softmax can spread C classes by at most a factor e, so the loss cannot fall below "
        "ln(e + C - 1) - 1: 0.313 nats for two classes, 1.461 for ten. The ranking of the classes is kept, which is why "
        "accuracy may look fine, but the gradient is squeezed twice and vanishes for confident rows, right or wrong."
    ),
    fix="Hand the logits to cross-entropy; use softmax only where probabilities are read. Or log-softmax with NLL loss.",
    hints=(
        "Compare the lowest loss of the run with what a perfect classifier would reach.",
        "Look at the numbers that go into the loss: which range do they have, and what do the rows add up to?",
        "Read the line that computes the loss, and what its documentation says about its first argument.",
    ),
    look_alikes=(
        LookAlike("optimizer/lr_too_low", "A low learning rate keeps falling with more epochs; here the floor stays."),
        LookAlike(
            "loss/label_noise", "Noise leaves no fixed floor at ln(e + C - 1) - 1 and the rows do not sum to one."
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
)
