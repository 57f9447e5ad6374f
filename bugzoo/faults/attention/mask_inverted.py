"""The mask is there, at the right place, and the numbers are wrong all the same: too good, or no better than a guess."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE, SOFT = "$SCORES = $SCORES.masked_fill($MASK != 0, -1e4)", "weights = F.softmax($SCORES, dim=-1)"

FAULT = Fault(
    title="The mask hides what it should show",
    level=2,
    symptom="degraded",
    edits=Swap("$SCORES = $SCORES.masked_fill($MASK == 0, $LOW)", "$SCORES = $SCORES.masked_fill($MASK != 0, -1e4)"),
    evidence=("dependency.masked_leak > 0.001",),
    effect="dependency.masked_leak > healthy",
    why=(
        "Some masks say where to look, some what to hide: nn.MultiheadAttention's True hides, scaled_dot_product_attention's "
        "True shows. Turned round, a language model reads nothing but the future, with the answer in it; a text reads nothing "
        "but its padding. A fill of -1e4 leaves a row in which everything is hidden with ordinary weights, where -inf would "
        "have said so with a nan."
    ),
    fix="Fill where nothing may be seen: scores.masked_fill(mask == 0, -inf). Test a mask with four tokens, by eye.",
    repairs=instead(
        LINE,
        {
            "equal instead of unequal": "$SCORES = $SCORES.masked_fill($MASK == 0, -1e4)",
            "a mask of booleans": '$SCORES = $SCORES.masked_fill(~($MASK).bool(), float("-inf"))',
            "added to the scores": "$SCORES = $SCORES + ($MASK == 0) * -1e4",
        },
    ),
    pretences=instead(
        LINE,
        {
            "no mask": "",
            "minus infinity": '$SCORES = $SCORES.masked_fill($MASK != 0, float("-inf"))',
            "a gentle mask": "$SCORES = $SCORES.masked_fill($MASK == 0, -2.0)",
        },
    )
    | {"hidden behind the softmax as well": Swap(SOFT, f"{SOFT}\nweights = weights.masked_fill(mask == 0, 0.0)")},
    same_forward=True,
    hints=(
        "From which tokens may an output draw, and from which does it?",
        "Take one row of the attention weights and print it below the mask. Where is the weight?",
        "Read the line that fills the scores aloud: where the mask is what, the score becomes what?",
    ),
    look_alikes=(
        LookAlike(
            "attention/causal_mask_missing",
            "Change the first token of an input, and see whether the outputs behind it change.",
            "They hardly do: only what comes later is read.",
            "They do: everything is read.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Add up each row of the attention weights, before anything is done with the values.",
            "Rows add up to 1: `dependency.attention_partial_rows < 0.05`.",
            "Rows fall short of 1: `dependency.attention_partial_rows > 0.05`.",
        ),
        LookAlike(
            "recurrent/padding_read_as_text",
            "Look where in the model padding and words come together: in a state, or in weights.",
            "In the weights of the attention.",
            "In the state that is read at the end.",
        ),
    ),
    sources=(
        "https://github.com/mlwithme/TransformerTranslation/issues/6",
        "https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
    ),
)
