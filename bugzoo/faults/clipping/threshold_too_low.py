"""The gradient norm is the same at every step, to the last digit, from the first step to the last."""

from bugzoo.faults.idioms import CLIP, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="max_norm too small in clip_grad_norm_()",
    level=4,
    symptom="degraded",
    params={"limit": Param(1e-3, 1e-9, 2e-3, "max_norm: the largest gradient norm that is not cut")},
    edits=rewrite(CLIP, LIMIT="$limit"),
    evidence=("clip_rate.bites_share > 0.9", "clip_rate.times_over > 20"),
    effect="gradient_health.total_norm < healthy",
    why=(
        "A max_norm below every gradient norm makes all gradients equally long. A completely wrong batch then "
        "pulls no harder than a nearly right one, and the loss cannot settle. With SGD this acts like a learning "
        "rate that is a hundred times lower. Adam divides the length out again, so only the balance between "
        "batches changes, until eps matters."
    ),
    fix=(
        "Log the norm that clip_grad_norm_ returns for some hundred steps. Then choose a max_norm that only a few "
        "steps exceed."
    ),
    repairs={
        "as it was meant": rewrite(CLIP, LIMIT="1.0"),
        "twice that": rewrite(CLIP, LIMIT="2 * max_norm"),
        "near the longest": rewrite(CLIP, LIMIT="0.8"),
    },
    pretences={
        "twice the limit": rewrite(CLIP, LIMIT="fold(2 * $limit)"),
        "a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 5)"),
        "by value": rewrite(CLIP, PLACE="torch.nn.utils.clip_grad_value_(model.parameters(), 1e-4)"),
    },
    shown_by=("gradient_health",),
    hints=(
        "Plot the gradient norm over the steps. Does the curve change at all?",
        "Print the gradient norm right before the clipping and right after it.",
        "At how many of 100 steps does the clipping shorten the gradient, and at how many should it?",
    ),
    look_alikes=(
        LookAlike(
            "clipping/clipped_by_value",
            "Compute the cosine between the gradient before and after it is clipped.",
            "The cosine is 1, because only the length changes: `clip_rate.cosine > 0.9`.",
            "The cosine is well below 1: `clip_rate.cosine < 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the gradient norm right before step(): does it have the same value at every step?",
            "The norm is the same at every step, to the last digit.",
            "The norm differs from step to step.",
        ),
    ),
    sources=("https://arxiv.org/abs/1211.5063",),
    terms=("gradient clipping",),
)
