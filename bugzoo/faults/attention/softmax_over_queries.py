"""The attention looks right line by line, and yet the loss of the language model falls below what is possible."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "F.softmax($SCORES, dim=-2)"

FAULT = Fault(
    title="Attention weights that add up to one along the wrong axis",
    level=3,
    symptom="degraded",
    edits=Swap("F.softmax($SCORES, dim=-1)", "F.softmax($SCORES, dim=-2)"),
    not_on={
        "sequence_classifier": "the column of a padded place is -inf from top to bottom, and its softmax is nan at step 1: "
        "another symptom, measured."
    },
    evidence=("dependency.softmax_over_queries > 0.5",),
    effect="dependency.masked_leak > healthy",
    why=(
        "Scores are (queries, keys); a query shares out one unit of attention among the keys, so that the softmax runs over the "
        "last axis. Over the one before, every key shares itself out among the queries: the weights of a query add up to "
        "anything, and its share of a key depends on what all later queries made of it. Nothing crashes: the matrix is square."
    ),
    fix="softmax(scores, dim=-1): the axis of the keys, which the product with the values sums over.",
    repairs=instead(
        LINE,
        {
            "a method": "$SCORES.softmax(-1)",
            "the axis counted from the left": "F.softmax($SCORES, dim=3)",
            "by hand": "torch.exp($SCORES - $SCORES.logsumexp(-1, keepdim=True))",
        },
    )
    | {
        "torch's own attention": (
            Swap(
                "attended = weights @ values",
                "attended = F.scaled_dot_product_attention(queries, keys, values, mask != 0)",
            )
        ),
    },
    pretences=instead(
        LINE,
        {
            "the axis counted from the left, wrongly": "F.softmax($SCORES, dim=2)",
            "divided again": f"({LINE} / {LINE}.sum(-1, keepdim=True))",
            "the scores turned round": "F.softmax($SCORES.transpose(-2, -1), dim=-1).transpose(-2, -1)",
            "over the heads": "F.softmax($SCORES, dim=1)",
        },
    ),
    same_forward=True,
    hints=(
        "What is shared out in attention, and among whom?",
        "Print the weights of one head for four tokens. Which add up to one: the rows or the columns?",
        "Read the attention from the scores to the weighted values, and name both axes at each line.",
    ),
    look_alikes=(
        LookAlike(
            "attention/causal_mask_missing",
            "Add up the attention weights of one query over the keys, and of one key over the queries.",
            "Those of a key add up to 1: `dependency.softmax_over_queries > 0.5`.",
            "Those of a query do: `dependency.softmax_over_queries < 0.5`.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Add up the columns of the attention weights, before anything is done with the values.",
            "Columns add up to 1: `dependency.softmax_over_queries > 0.5`.",
            "They add up to anything: `dependency.softmax_over_queries < 0.5`.",
        ),
    ),
    sources=(
        "https://arxiv.org/abs/1706.03762",
        "https://pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html",
    ),
)
