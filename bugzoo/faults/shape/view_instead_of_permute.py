"""All shapes fit and the code runs. The loss behaves as if the model could see tokens that it must not see."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "$ATTENDED.reshape(size, time, width)"

FAULT = Fault(
    title="Attention heads merged without transpose(1, 2)",
    level=4,
    symptom="degraded",
    edits=Swap("$ATTENDED.transpose(1, 2).reshape(size, time, width)", LINE),
    evidence=("dependency.masked_leak > 0.001",),
    effect="dependency.masked_leak > healthy",
    why=(
        "The attention output has shape (size, heads, time, head_size). A direct reshape to (size, time, width) "
        "fills one token's row with head 0 of its neighbors. With 4 heads, row 0 holds tokens 0 to 3 of one head. "
        "Later tokens leak into earlier rows, whatever the mask says, and the loss curve looks like that of a "
        "missing causal mask. All sizes fit, so PyTorch raises no error."
    ),
    fix=(
        "Write attended.transpose(1, 2).reshape(size, time, width). The transpose puts the heads of one token side "
        "by side."
    ),
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
        "Which input tokens may change the output at one position, and which of them do?",
        (
            "Give every token a vector filled with its own number. Print where these numbers are after each line of "
            "the model."
        ),
        "A shape that fits says how many numbers there are, not which ones. Where does one shape become another?",
    ),
    look_alikes=(
        LookAlike(
            "attention/heads_mixed",
            "Send numbered tokens through the attention, and find the line that first mixes their order.",
            "The line that merges the heads mixes the order.",
            "The line that splits the heads mixes the order.",
        ),
        LookAlike(
            "attention/causal_mask_missing",
            "Print one row of the attention weights, and look for weight on a later position.",
            "Later positions have no weight: the tokens get mixed after the mask.",
            "Later positions have weight, because nothing masks them.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Sum each row of the attention weights, right before they multiply the values.",
            "The rows sum to 1: `dependency.attention_partial_rows < 0.05`.",
            "The rows sum to less than 1: `dependency.attention_partial_rows > 0.05`.",
        ),
    ),
    sources=(
        "https://github.com/jsbaan/transformer-from-scratch/pull/6",
        "https://github.com/hackiey/QAnet-pytorch/issues/2",
    ),
    terms=("attention head",),
)
