"""In mixed precision the optimizer gets a tiny gradient at every step, and the gradient norm is always the same."""

from bugzoo.faults import words
from bugzoo.faults.idioms import CLIP, OPTIMIZER, SCALED_BACKWARD, SCALED_STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Param
from bugzoo.faults.verbs import after, before, remove, rewrite

CUT = "torch.nn.utils.clip_grad_norm_($MODEL.parameters(), $limit)"

FAULT = Fault(
    title="clip_grad_norm_() without scaler.unscale_()",
    level=3,
    symptom="degraded",
    params={"limit": Param(1.0, 0.01, 3.0, "max_norm: a longer gradient is scaled down to this norm")},
    edits=before(SCALED_STEP, CUT, given=OPTIMIZER),
    evidence=("clip_rate.times_over > 3",),
    effect="gradient_health.total_norm < healthy",
    why=(
        "Between scaler.scale(loss).backward() and scaler.step() the gradients still contain the loss scale, "
        "65,536 at first. A max_norm of 1 should clip outliers only, but now it clips every gradient. Then "
        "scaler.step() divides by the loss scale, so the optimizer gets a gradient norm of 1 / 65,536. SGD hardly "
        "moves. Adam normalizes the gradients and hides the problem, but every gradient has the same norm, and "
        "that norm jumps whenever the loss scale changes."
    ),
    fix="Call scaler.unscale_(optimizer) before clip_grad_norm_(). Then scaler.step() does not unscale a second time.",
    repairs={
        "unscaled first": before(CLIP, "scaler.unscale_(optimizer)"),
        "a limit in the same unit": rewrite(CLIP, LIMIT="$LIMIT * scaler.get_scale()"),
        "only where it is needed": rewrite(
            CLIP,
            PLACE="scaler.unscale_(optimizer)\nif step >= 0:\n    torch.nn.utils.clip_grad_norm_(model.parameters(), $LIMIT)",
        ),
    },
    by_counter=("only where it is needed",),
    pretences={
        "twice the limit": rewrite(CLIP, LIMIT="2 * $LIMIT"),
        "unscaled behind it": after(CLIP, "scaler.unscale_(optimizer)"),
        "in front of backward()": (
            remove(CLIP),
            before(SCALED_BACKWARD, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
        ),
    },
    shown_by=("loss_scale", "gradient_health"),
    hints=(
        "Plot the gradient norm that the optimizer gets. How much does it vary from step to step?",
        "Count the steps whose gradient norm reaches the limit in the script. How many would that be in float32?",
        (
            "Print the gradient norm after each line from backward() to the step. Which of these numbers contain "
            "the loss scale?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "clipping/threshold_too_low",
            "Compare the gradient norm that the optimizer gets with the limit in the script.",
            "The optimizer gets a norm that is 65,536 times smaller than the limit.",
            "The optimizer gets a norm equal to the limit.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the gradient norm that the optimizer gets at ten steps. Is the norm always the same?",
            "All ten norms agree to three digits.",
            "The norms differ from step to step.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",),
    cause=Cause(words.LOSS_SCALE, either={words.CLIPPING: {}}),
    terms=("gradient clipping", "GradScaler"),
    beside={"amp_transformer": ("attention/causal_mask_missing",)},
)
