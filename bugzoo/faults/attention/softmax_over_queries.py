"""Each line of the attention looks right. Still, the loss of the language model falls below what is possible."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "F.softmax($SCORES, dim=-2)"

FAULT = Fault(
    title="Attention softmax over the wrong axis (dim=-2)",
    level=3,
    symptom="degraded",
    edits=Swap("F.softmax($SCORES, dim=-1)", "F.softmax($SCORES, dim=-2)"),
    not_on={
        "sequence_classifier": (
            "the column of a padding token is -inf in every row. Its softmax is nan at step 1, which is another "
            "symptom (measured)."
        ),
    },
    evidence=("dependency.softmax_over_queries > 0.5",),
    effect="dependency.masked_leak > healthy",
    why=(
        "Attention scores have the shape (queries, keys). Each query shares a weight of 1 among the keys, so the "
        "softmax must run over the last axis. With dim=-2, each key shares a weight of 1 among the queries. The "
        "weights of one query then no longer sum to 1. A query's weight for a key also depends on all later "
        "queries, so the future leaks. Nothing crashes, because the matrix is square."
    ),
    fix=(
        "Write `F.softmax(scores, dim=-1)`. The last axis holds the keys, and the product with the values sums "
        "over the keys."
    ),
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
        "Each token distributes a total attention of 1. Over which tokens should this total be distributed?",
        "Print the attention weights of one head for four tokens. Which of them sum to 1: the rows or the columns?",
        (
            "Read the attention from the scores to the weighted values. At each line, write down what the last "
            "two axes mean."
        ),
    ),
    look_alikes=(
        LookAlike(
            "attention/causal_mask_missing",
            "Sum the attention weights of one query over the keys, and of one key over the queries.",
            "The weights of one key sum to 1: `dependency.softmax_over_queries > 0.5`.",
            "The weights of one query sum to 1: `dependency.softmax_over_queries < 0.5`.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Sum each column of the attention weights, before the weights multiply the values.",
            "Each column sums to 1: `dependency.softmax_over_queries > 0.5`.",
            "The sums of the columns are arbitrary: `dependency.softmax_over_queries < 0.5`.",
        ),
    ),
    sources=(
        "https://arxiv.org/abs/1706.03762",
        "https://pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html",
    ),
    cause=Cause(words.ATTENTION, either={words.DIMENSION: {}}),
    terms=("scaled dot-product attention", "softmax"),
)
