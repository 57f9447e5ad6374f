"""Clipping was meant to tame a few outliers. Since then all layers move at one speed, the important ones no faster."""

from bugzoo.faults.idioms import CLIP, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="Gradients are clipped number by number",
    level=3,
    symptom="degraded",
    params={"limit": Param(1e-4, 1e-8, 3e-4, "what each number of the gradient is cut to")},
    edits=rewrite(CLIP, PLACE="torch.nn.utils.clip_grad_value_($PARAMETERS, $limit)"),
    evidence=("clip_rate.by_value > 0.5", "clip_rate.cosine < 0.9"),
    effect="clip_rate.cosine < healthy",
    why=(
        "By norm the whole gradient is shortened and points where it pointed. By value each number is cut off at the same "
        "height: the largest ones lose most, the small ones nothing, and what is left points elsewhere. With a limit below "
        "most of the numbers it is little more than the sign of each."
    ),
    fix="clip_grad_norm_ with a limit that is met now and then; by value only with a limit far above the usual number.",
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
        "Compare the gradient before and after the clipping: is it shorter only, or does it point elsewhere?",
        "How many of its numbers does the clipping change? And how large are the usual ones?",
        "Read the name of the function that clips, and the number that it is given.",
    ),
    look_alikes=(
        LookAlike(
            "clipping/threshold_too_low",
            "Compute the cosine between the gradient before and after it is clipped.",
            "Well below 1: `clip_rate.cosine < 0.9`.",
            "1: it is shorter, and nothing else: `clip_rate.cosine > 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print how large one update is, compared with the parameters that it changes.",
            "As usual, about a thousandth.",
            "Hundreds of times smaller.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_value_.html",),
)
