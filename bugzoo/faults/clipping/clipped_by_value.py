"""Clipping was added against a few outlier batches. Now all layers change at the same speed, important or not."""

from bugzoo.faults.idioms import CLIP, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="Clip value too small in clip_grad_value_()",
    level=3,
    symptom="degraded",
    params={"limit": Param(1e-4, 1e-8, 3e-4, "clip value: each element of the gradient is cut to it")},
    edits=rewrite(CLIP, PLACE="torch.nn.utils.clip_grad_value_($PARAMETERS, $limit)"),
    evidence=("clip_rate.by_value > 0.5", "clip_rate.cosine < 0.9"),
    effect="clip_rate.cosine < healthy",
    why=(
        "Clipping by norm shortens the whole gradient and keeps its direction. Clipping by value cuts each "
        "element at the same limit: large elements lose most, small elements lose nothing, and the direction "
        "changes. With a clip value below most elements, little more than the sign of each element is left."
    ),
    fix=(
        "Use `clip_grad_norm_` with a max_norm that a few steps exceed. Clip by value only with a clip value far "
        "above the usual element."
    ),
    repairs={
        "by norm": rewrite(CLIP, PLACE="torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)"),
        "far above the usual": rewrite(CLIP, LIMIT="10.0"),
        "by norm, twice as far": rewrite(
            CLIP, PLACE="torch.nn.utils.clip_grad_norm_(model.parameters(), 2 * max_norm)"
        ),
    },
    pretences={
        "three times the limit": rewrite(CLIP, LIMIT="fold(3 * $limit)"),
        "half the limit": rewrite(CLIP, LIMIT="fold($limit / 2)"),
        "a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 4)"),
    },
    shown_by=("gradient_health",),
    hints=(
        (
            "Compare the gradient before and after the clipping. Does only the length change, or does the "
            "direction change too?"
        ),
        "How many elements of the gradient does the clipping change? How large is a usual element?",
        "Read the name of the function that clips, and the limit that the script passes to this function.",
    ),
    look_alikes=(
        LookAlike(
            "clipping/threshold_too_low",
            "Compute the cosine between the gradient before and after it is clipped.",
            "The cosine is well below 1: `clip_rate.cosine < 0.9`.",
            "The cosine is 1, because only the length changes: `clip_rate.cosine > 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print how large one update is, compared with the parameters that it changes.",
            "The update has its usual size, about a thousandth of the parameters.",
            "The update is hundreds of times smaller than usual.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_value_.html",),
    terms=("gradient clipping by value",),
)
