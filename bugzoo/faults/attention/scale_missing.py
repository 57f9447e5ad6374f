"""From the start, attention puts nearly all weight on one token. The wider the heads, the worse the model trains."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "scores = queries @ keys.transpose(-2, -1)"

FAULT = Fault(
    title="Attention scores not scaled by 1/sqrt(d)",
    level=4,
    symptom="degraded",
    edits=Swap(f"{LINE} / math.sqrt(head_size)", LINE),
    evidence=("attention_scale.factor > 0.9",),
    effect="attention_scale.factor > healthy",
    why=(
        "An attention score is a sum of head_size products. If each product has size 1, the sum has size "
        "sqrt(head_size): 4 for 16, 8 for 64. The softmax makes such differences extreme: a score that is 4 lower "
        "gets a fiftieth of the weight. The gradient of a saturated softmax is almost 0, so the attention stays "
        "as it was initialized. Narrow heads like these tolerate the mistake, and the loss shows it late or "
        "never. The wide heads of a large model do not tolerate it."
    ),
    fix=(
        "Divide the scores by `math.sqrt(head_size)`. Or call `F.scaled_dot_product_attention`, which divides "
        "them itself."
    ),
    repairs=instead(
        LINE,
        {
            "queries beforehand": "scores = (queries / math.sqrt(head_size)) @ keys.transpose(-2, -1)",
            "half in each": "scores = (queries * head_size**-0.25) @ (keys * head_size**-0.25).transpose(-2, -1)",
            "as a power": f"{LINE} * head_size**-0.5",
        },
    ),
    pretences=instead(
        LINE,
        {
            "the largest taken off": f"{LINE}\nscores = scores - scores.amax(-1, keepdim=True)",
            "times one": f"{LINE} * (head_size / head_size)",
            "the other root": f"{LINE} * math.sqrt(head_size)",
        },
    )
    | {"a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 2)")},
    same_forward=True,
    shown_by=("gradient_health",),
    hints=(
        (
            "Print a row of attention weights before the first step. How even are the weights, and how even "
            "should the weights be?"
        ),
        "Print the standard deviation of the scores right before the softmax, for heads of width 4, 16 and 64.",
        "Compare the line that computes the scores with the formula in the attention paper, symbol by symbol.",
    ),
    look_alikes=(
        LookAlike(
            "attention/heads_mixed",
            "Change one token of a text, and check at which positions the outputs change.",
            "The outputs change only where they may, and only their size is off: `attention_scale.factor > 0.9`.",
            "The outputs change at other positions as well: `attention_scale.factor < 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Print the standard deviation of the attention scores before the first step.",
            "The standard deviation is already too large: `attention_scale.factor > 0.9`.",
            "The standard deviation is normal at first, and grows in training: `attention_scale.factor < 0.9`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1706.03762",),
    cause=Cause(words.ATTENTION, also=("attention",)),
    terms=("scaled dot-product attention",),
    beside={
        "mini_transformer": (
            "loop/stale_gradients",
            "freezing/frozen_layers",
            "loop/stale_gradients + memory/losses_kept_with_graph",
        )
    },
)
