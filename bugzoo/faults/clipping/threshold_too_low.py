"""Every gradient has the same length, to the last digit, from the first step to the last."""

from bugzoo.faults.idioms import CLIP, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="A clipping limit below every gradient",
    level=4,
    symptom="degraded",
    params={"limit": Param(1e-3, 1e-9, 2e-3, "the largest norm that a gradient may have")},
    edits=rewrite(CLIP, LIMIT="$limit"),
    evidence=("clip_rate.bites_share > 0.9", "clip_rate.times_over > 20"),
    effect="gradient_health.total_norm < healthy",
    why=(
        "A limit that every gradient exceeds makes all of them equally long: a batch that is all wrong pulls no harder than one "
        "that is nearly right, and the loss can no longer come to rest. For SGD it is a learning rate a hundred times "
        "lower; Adam divides the length out again, and what is left of it is the balance between batches, until its eps is felt."
    ),
    fix="Write down the norms of some hundred steps and take a limit that a few of them exceed.",
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
        "Draw the lengths of the gradients over the steps. Is there anything to see?",
        "Print the length that the clipping finds, beside the one that it leaves.",
        "At how many steps in a hundred is the limit met, and at how many should it be?",
    ),
    look_alikes=(
        LookAlike(
            "clipping/clipped_by_value",
            "Compute the cosine between the gradient before and after it is clipped.",
            "1: it is shorter, and nothing else: `clip_rate.cosine > 0.9`.",
            "Well below 1: `clip_rate.cosine < 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Look whether the gradient that the optimiser gets has the same length at every step.",
            "The same, to the last digit.",
            "It differs from step to step.",
        ),
    ),
    sources=("https://arxiv.org/abs/1211.5063",),
)
