"""Since activations are rounded to save memory the model learns far less than rounding alone could explain."""

from bugzoo.faults.idioms import ACTIVATED
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import instead, rewrite

LINE = "$HIDDEN = ($STEPS * $ACTIVE).int() / $STEPS"

FAULT = Fault(
    title="Activations go through integers",
    level=3,
    symptom="degraded",
    params={
        "steps": Param(256, 1, 65_536, "steps between one whole number and the next that an activation is rounded to")
    },
    edits=rewrite(ACTIVATED, PLACE="($steps * $PLACE).int() / $steps"),
    not_on={
        "data_parallel": "DistributedDataParallel waits for the gradients that never come and stops with an error of its own at "
        "the second step: another symptom."
    },
    evidence=("parameter_audit.without_gradient_share > 0.1",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "A step function is flat: the derivative of a rounded number is 0 wherever there is one, and integers of torch carry no "
        "gradient at all. int() ends the graph without a word, so nothing before it learns, however fine the steps are: with "
        "256 steps the numbers themselves are off by at most 0.004."
    ),
    fix="Leave activations floating; to train with rounded ones, let the gradient pass straight through: x + (q - x).detach().",
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
        "Do all layers learn, or only some? A copy of the parameters from before the training tells.",
        "Print dtype and grad_fn of each intermediate result of the forward pass.",
        "Which operation of the forward pass has a slope of zero nearly everywhere?",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Ask the parameters that never move whether they are trainable.",
            "They are, and no gradient comes: `parameter_audit.frozen_share < 0.3`.",
            "They are not: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "precision/half_parameters",
            "Look in which number format the parameters themselves are kept.",
            "In float32, as they should be.",
            "In float16.",
        ),
        LookAlike(
            "initialisation/dead_relu",
            "Look at the gradients of the layers that stay still: are there none, or are they zeros?",
            "There are none at all.",
            "There are some, made of zeros.",
        ),
    ),
    sources=("https://arxiv.org/abs/1308.3432", "https://pytorch.org/docs/stable/notes/autograd.html"),
)
