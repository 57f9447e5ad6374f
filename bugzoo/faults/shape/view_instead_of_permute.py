"""Every shape fits and the code runs; the loss behaves as if the model could see what it must not see."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "$ATTENDED.reshape(size, time, width)"

FAULT = Fault(
    title="Axes are renamed where they should be moved",
    level=4,
    symptom="degraded",
    edits=Swap("$ATTENDED.transpose(1, 2).reshape(size, time, width)", LINE),
    evidence=("dependency.masked_leak > 0.001",),
    effect="dependency.masked_leak > healthy",
    why=(
        "Attention ends with (size, heads, time, head_size). Read on as (size, time, width), one token's row is filled with "
        "head 0 of its neighbours: with 4 heads, row 0 holds tokens 0 to 3 of one head. Later tokens flow into earlier rows, "
        "whatever the mask says, which gives the loss curve of a missing mask. All sizes fit, so that nothing warns."
    ),
    fix="transpose(1, 2) brings the heads of one token side by side; only then reshape.",
    repairs=instead(
        LINE,
        {
            "permuted and flattened": "$ATTENDED.permute(0, 2, 1, 3).flatten(2)",
            "contiguous and viewed": "$ATTENDED.transpose(1, 2).contiguous().view(size, time, width)",
            "side by side": "torch.cat($ATTENDED.unbind(1), dim=-1)",
        },
    ),
    pretences=instead(
        LINE,
        {
            "contiguous first": "$ATTENDED.contiguous().view(size, time, width)",
            "turned afterwards": "$ATTENDED.reshape(size, width, time).transpose(1, 2)",
            "the wrong pair": "$ATTENDED.transpose(1, 3).reshape(size, time, width)",
        },
    ),
    same_forward=True,
    hints=(
        "From which tokens may an output draw, and from which does it?",
        "Give every token a number of its own for a vector, and look where the numbers are after each line of the model.",
        "A shape that fits says how many numbers there are, not which. Where is one shape made into another?",
    ),
    look_alikes=(
        LookAlike(
            "attention/heads_mixed",
            "Send numbered tokens through the attention, and look where the numbers first are out of order.",
            "Where the heads are put together.",
            "Where the heads are taken apart.",
        ),
        LookAlike(
            "attention/causal_mask_missing",
            "Print a row of the attention weights: is there any weight on a later position?",
            "There is none: the mask is obeyed, and they get mixed up behind it.",
            "There is: nothing hides them.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Add up each row of the attention weights, before anything is done with the values.",
            "Rows add up to 1: `dependency.attention_partial_rows < 0.05`.",
            "Rows fall short of 1: `dependency.attention_partial_rows > 0.05`.",
        ),
    ),
    sources=(
        "https://github.com/jsbaan/transformer-from-scratch/pull/6",
        "https://github.com/hackiey/QAnet-pytorch/issues/2",
    ),
)
