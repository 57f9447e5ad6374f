"""No part of the attention is missing. Still, the results are wrong: far too good, or no better than guessing."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE, SOFT = "$SCORES = $SCORES.masked_fill($MASK != 0, -1e4)", "weights = F.softmax($SCORES, dim=-1)"

FAULT = Fault(
    title="Inverted attention mask",
    level=2,
    symptom="degraded",
    edits=Swap("$SCORES = $SCORES.masked_fill($MASK == 0, $LOW)", "$SCORES = $SCORES.masked_fill($MASK != 0, -1e4)"),
    evidence=("dependency.masked_leak > 0.001",),
    effect="dependency.masked_leak > healthy",
    why=(
        "Mask conventions differ: True hides a position in nn.MultiheadAttention, but keeps it in "
        "scaled_dot_product_attention. With an inverted mask, a language model attends only to future tokens, and "
        "the target is one of them. A text classifier attends only to padding tokens. A fill value of -1e4 hides "
        "the mistake: a row with only hidden positions still gets ordinary weights. With -inf, that row would be "
        "nan."
    ),
    fix=(
        'Fill the scores of the positions to hide: `scores.masked_fill(mask == 0, float("-inf"))`. Print the mask '
        "for four tokens and check each row."
    ),
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
        "Change one token of an input. Which outputs change, and which of them may change?",
        "Print one row of the attention weights below the same row of the mask. Where are the large weights?",
        "Read the line that fills the scores aloud: where the mask is 1, what does the score become?",
    ),
    look_alikes=(
        LookAlike(
            "attention/causal_mask_missing",
            "Change the first token of an input, and check whether the logits after it change.",
            "The later logits hardly change: each position attends only to later tokens.",
            "The later logits change: each position attends to all tokens.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Sum each row of the attention weights, before the weights multiply the values.",
            "Each row sums to 1: `dependency.attention_partial_rows < 0.05`.",
            "Some rows sum to less than 1: `dependency.attention_partial_rows > 0.05`.",
        ),
        LookAlike(
            "recurrent/padding_read_as_text",
            "Find where padding tokens mix with words: in a hidden state, or in attention weights?",
            "Padding tokens mix with words in the attention weights.",
            "Padding tokens mix with words in the hidden state that the model reads at the end.",
        ),
    ),
    sources=(
        "https://github.com/mlwithme/TransformerTranslation/issues/6",
        "https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
    ),
    terms=("padding mask", "causal mask"),
)
