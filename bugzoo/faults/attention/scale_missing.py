"""Attention that settles on one place at once. It trains, and the wider the heads, the worse."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

LINE = "scores = queries @ keys.transpose(-2, -1)"

FAULT = Fault(
    title="Scores of attention that nobody divides by the root of their width",
    level=4,
    symptom="degraded",
    edits=Swap(f"{LINE} / math.sqrt(head_size)", LINE),
    evidence=("attention_scale.factor > 0.9",),
    effect="attention_scale.factor > healthy",
    why=(
        "A score is a sum of head_size products, and a sum of d numbers of size 1 has the size of the root of d: 4 for 16, 8 "
        "for 64. exp() makes that a matter of life and death: a score that lies 4 behind gets a fiftieth of the weight. "
        "Rows that are nearly all on one place have a gradient of nearly nothing, so it stays as it was drawn. Heads as "
        "narrow as these forgive it, and the loss shows it late or never; those of a large model do not."
    ),
    fix="Divide the scores by math.sqrt(head_size), or call F.scaled_dot_product_attention, which does it itself.",
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
        "How evenly does an untrained model spread its attention, and how evenly should it?",
        "Print the spread of the scores in front of the softmax for heads of 4, 16 and 64 numbers.",
        "Lay the formula of attention beside the line that makes the scores, sign by sign.",
    ),
    look_alikes=(
        LookAlike(
            "attention/heads_mixed",
            "Change one token of a text and see at which places the outputs move.",
            "Those that may: only their size is off, `attention_scale.factor > 0.9`.",
            "Outputs of other places as well: `attention_scale.factor < 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the spread of the scores before the first step.",
            "It is too large already: `attention_scale.factor > 0.9`.",
            "It is as usual, and grows: `attention_scale.factor < 0.9`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1706.03762",),
)
