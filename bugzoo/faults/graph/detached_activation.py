"""The loss falls for a while and settles too high. What lies before the middle of the model stays as it was drawn."""

from bugzoo.faults.idioms import ACTIVATED
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead, rewrite

CUT, READ = "$HIDDEN = F.relu($INPUT).detach()", "last = states[$ROWS, $PLACES].detach()"

FAULT = Fault(
    title="An activation is cut off from the graph",
    level=3,
    symptom="degraded",
    edits=either(
        rewrite(ACTIVATED, PLACE="$PLACE.detach()"),
        Swap("last = states[$ROWS, $PLACES]", "last = states[$ROWS, $PLACES].detach()"),
    ),
    not_on={
        "data_parallel": "DistributedDataParallel waits for the gradients that never come and stops with an error of its own at "
        "the second step: another symptom."
    },
    evidence=("parameter_audit.without_gradient_share > 0.1",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "detach() gives the same numbers without their history. backward() walks from the loss to that tensor and ends there: "
        "every layer before it keeps .grad = None, and Adam passes over parameters without a gradient. In mlp that is 25,000 of "
        "26,000 numbers; the head alone learns, on random features."
    ),
    fix="Take detach() out of the forward pass; detach what is only looked at: a copy for a plot, a target, a state carried on.",
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
        "Which parameters have moved since the start, and which are what they were, to the last bit?",
        "After one backward(), print of each parameter whether it has a .grad, in the order of the layers.",
        "Follow the forward pass from the last layer that learns to the first that does not: what is done between them?",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Ask the parameters that never move whether they are trainable.",
            "They are, and no gradient comes: `parameter_audit.frozen_share < 0.3`.",
            "They are not: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "initialisation/dead_relu",
            "Look at the gradients of the layers that stay still: are there none, or are they zeros?",
            "There are none at all.",
            "There are some, made of zeros.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Copy the parameters, train for some steps and compare: which have moved at all?",
            "Only those behind one place; the others are what they were, to the bit.",
            "All have moved, each of them a little.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html",),
)
