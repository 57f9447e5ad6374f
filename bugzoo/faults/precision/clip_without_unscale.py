"""Mixed precision with clipping at 1.0, as in every recipe, and each step follows a gradient of the same tiny length."""

from bugzoo.faults.idioms import CLIP, OPTIMIZER, SCALED_BACKWARD, SCALED_STEP
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import after, before, remove, rewrite

CUT = "torch.nn.utils.clip_grad_norm_($MODEL.parameters(), $limit)"

FAULT = Fault(
    title="Clipped while the gradients are still scaled",
    level=3,
    symptom="degraded",
    params={"limit": Param(1.0, 0.01, 3.0, "norm to which a longer gradient is cut")},
    edits=before(SCALED_STEP, CUT, given=OPTIMIZER),
    evidence=("clip_rate.times_over > 3",),
    effect="gradient_health.total_norm < healthy",
    why=(
        "Between scaler.scale(loss).backward() and scaler.step() the gradients are those of the scaled loss, 65,536 times too "
        "long. A limit of 1 that was meant to catch outliers cuts every one of them, and when the scaler takes its factor "
        "out again, each step has a norm of 1 / 65,536. SGD hardly moves then; Adam divides by the size and hides it, but "
        "all its steps are equally long, and each change of the scale is a jump."
    ),
    fix="scaler.unscale_(optimizer) in front of the clipping; scaler.step() knows that it was done.",
    repairs={
        "unscaled first": before(CLIP, "scaler.unscale_(optimizer)"),
        "a limit in the same unit": rewrite(CLIP, LIMIT="$LIMIT * scaler.get_scale()"),
        "only where it is needed": rewrite(
            CLIP,
            PLACE="scaler.unscale_(optimizer)\nif step >= 0:\n    torch.nn.utils.clip_grad_norm_(model.parameters(), $LIMIT)",
        ),
    },
    pretences={
        "twice the limit": rewrite(CLIP, LIMIT="2 * $LIMIT"),
        "unscaled behind it": after(CLIP, "scaler.unscale_(optimizer)"),
        "in front of backward()": (
            remove(CLIP),
            before(SCALED_BACKWARD, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
        ),
    },
    shown_by=("scale_watch", "gradient_health"),
    hints=(
        "How long is the gradient that the optimiser follows, and how long is it at the moment when it is cut?",
        "At how many steps is the limit met? And what would that share be without mixed precision?",
        "Write down the unit of the gradient behind each line, from backward() to the step.",
    ),
    look_alikes=(
        LookAlike(
            "clipping/threshold_too_low",
            "Compare the length of the gradient where it is cut with that which the optimiser gets.",
            "The optimiser's is 65,536 times shorter than the limit.",
            "The optimiser's is as long as the limit.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Look whether all gradients have one and the same length.",
            "They do, to three digits.",
            "They do not.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",),
)
