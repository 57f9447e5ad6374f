"""Since we round activations to save memory, the model learns far less than the rounding alone could explain."""

from bugzoo.faults.idioms import ACTIVATED
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import instead, rewrite

LINE = "$HIDDEN = ($STEPS * $ACTIVE).int() / $STEPS"

FAULT = Fault(
    title="Activations cast to int in the forward pass",
    level=3,
    symptom="degraded",
    params={"steps": Param(256, 1, 65_536, "activations are rounded to multiples of 1 / steps")},
    edits=rewrite(ACTIVATED, PLACE="($steps * $PLACE).int() / $steps"),
    not_on={
        "data_parallel": (
            "DistributedDataParallel waits for gradients that never arrive and raises its own error at the second "
            "step. That is a different symptom."
        )
    },
    evidence=("parameter_audit.without_gradient_share > 0.1",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "The derivative of a rounded number is 0 wherever it exists, and integer tensors carry no gradient at "
        "all. A call of int() ends the computation graph without an error, so nothing before it learns. Finer "
        "steps do not help: with 256 steps the values are off by at most 0.004."
    ),
    fix=(
        "Keep activations in floating point. To train with rounded activations, use the straight-through "
        "estimator: x + (q - x).detach()."
    ),
    repairs=instead(
        LINE,
        {
            "not rounded": "$HIDDEN = $ACTIVE",
            "straight through": (
                "smooth = $ACTIVE\n$HIDDEN = smooth + (($STEPS * smooth).int() / $STEPS - smooth).detach()"
            ),
            "a shorter float": "$HIDDEN = $ACTIVE.bfloat16().float()",
        },
    ),
    pretences=instead(
        LINE,
        {
            "finer steps": "$HIDDEN = (65536 * $ACTIVE).int() / 65536",
            "round instead of int": "$HIDDEN = ($STEPS * $ACTIVE).round() / $STEPS",
            "asked for gradients": "$HIDDEN = (($STEPS * $ACTIVE).int() / $STEPS).requires_grad_()",
            "long instead of int": "$HIDDEN = ($STEPS * $ACTIVE).long().float() / $STEPS",
        },
    ),
    room=1.5,
    hints=(
        "Compare the parameters with a copy from before the training. Do all layers learn, or only some?",
        "Print dtype and grad_fn of each intermediate result of the forward pass.",
        "Which operation of the forward pass has a gradient of zero nearly everywhere?",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Print requires_grad for each of the parameters that do not change.",
            "requires_grad is True, but no gradient arrives: `parameter_audit.frozen_share < 0.3`.",
            "requires_grad is False: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "precision/half_parameters",
            "Print the dtype of the parameters themselves, outside of any autocast region.",
            "The parameters are float32, as they should be.",
            "The parameters are float16.",
        ),
        LookAlike(
            "initialisation/dead_relu",
            "Print .grad of the layers that do not change: is it None, or a tensor of zeros?",
            "The layers have no gradient (None).",
            "The gradient is a tensor of zeros.",
        ),
    ),
    sources=("https://arxiv.org/abs/1308.3432", "https://pytorch.org/docs/stable/notes/autograd.html"),
    terms=("detach", "dtype"),
)
