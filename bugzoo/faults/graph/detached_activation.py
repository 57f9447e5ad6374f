"""The loss falls for a while, then plateaus too high. The layers before the middle keep their initial weights."""

from bugzoo.faults.idioms import ACTIVATED
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead, rewrite

CUT, READ = "$HIDDEN = F.relu($INPUT).detach()", "last = states[$ROWS, $PLACES].detach()"

FAULT = Fault(
    title="detach() in the forward pass",
    level=3,
    symptom="degraded",
    edits=either(
        rewrite(ACTIVATED, PLACE="$PLACE.detach()"),
        Swap("last = states[$ROWS, $PLACES]", "last = states[$ROWS, $PLACES].detach()"),
    ),
    not_on={
        "data_parallel": (
            "DistributedDataParallel waits for gradients that never arrive and raises its own error at the second "
            "step. That is a different symptom."
        )
    },
    evidence=("parameter_audit.without_gradient_share > 0.1",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "detach() returns the same numbers without their computation graph. So backward() goes from the loss to "
        "that tensor and ends there. Every layer before it keeps .grad = None, and Adam skips parameters without "
        "a gradient. In mlp that is 25,000 of 26,000 parameters. Only the head learns, on random features."
    ),
    fix=(
        "Remove detach() from the forward pass. Detach only tensors that need no gradient: a copy for a plot, a "
        "target, a state carried to the next step."
    ),
    repairs=instead(
        CUT,
        {
            "the activation alone": "$HIDDEN = F.relu($INPUT)",
            "a clone": "$HIDDEN = F.relu($INPUT).clone()",
            "clamped": "$HIDDEN = ($INPUT).clamp(min=0)",
        },
    ),
    pretences=instead(
        CUT,
        {
            "asked for gradients again": f"{CUT}.requires_grad_()",
            "data instead": "$HIDDEN = F.relu($INPUT).data",
            "a leaf of its own": "$HIDDEN = F.relu($INPUT).detach().clone().requires_grad_(True)",
        },
    ),
    shown_by=("gradient_health",),
    hints=(
        "Which parameters have changed since the start? Which are identical to the last bit?",
        "After one backward(), print for each parameter whether it has a .grad, in the order of the layers.",
        (
            "Find the last layer that does not learn and the first one that does. What does the forward pass do "
            "between them?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Print requires_grad for each of the parameters that do not change.",
            "requires_grad is True, but no gradient arrives: `parameter_audit.frozen_share < 0.3`.",
            "requires_grad is False: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "initialisation/dead_relu",
            "Print .grad of the layers that do not change: is it None, or a tensor of zeros?",
            "The layers have no gradient (None).",
            "The gradient is a tensor of zeros.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Copy the parameters, train for some steps and compare: which ones have changed?",
            "Only the parameters after one point of the model have changed. The others are identical to the last bit.",
            "All parameters have changed, each of them a little.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html",),
    terms=("detach", "one-batch overfit test"),
)
