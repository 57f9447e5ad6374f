"""The model does worse the more the lengths in a batch differ. The prediction for a text depends on its padding."""

from bugzoo.faults.idioms import MASKED_SOFTMAX
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

SOFT, AFTER = "$WEIGHTS = F.softmax($SCORES, dim=-1)", "$WEIGHTS = $WEIGHTS.masked_fill($MASK == 0, 0.0)"
BOTH, USE = f"{SOFT}\n{AFTER}", "attended = weights @ values"
PADDED = "mask = words[:, None, None, :]"  # where a mask hides padding tokens, not future tokens

FAULT = Fault(
    title="Attention mask applied after the softmax",
    level=3,
    symptom="degraded",
    edits=rewrite(
        MASKED_SOFTMAX,
        PLACE="$WEIGHTS = $SOFTMAX\n$WEIGHTS = $WEIGHTS.masked_fill($HIDDEN, 0.0)",
    ),
    evidence=("dependency.masked_leak > 0.001",),
    effect="dependency.masked_leak > healthy",
    why=(
        "The softmax divides by a sum over all positions, including the positions that the mask should hide. "
        "Setting the hidden weights to 0 afterwards leaves rows that sum to less than 1. How much is missing "
        "depends on the hidden positions. So padding tokens dilute short texts, and under a causal mask future "
        "tokens leak through the denominator."
    ),
    fix=(
        "Set the hidden scores to -inf before the softmax. Or divide each row by its sum after masking: `weights "
        "/ weights.sum(-1, keepdim=True)`."
    ),
    repairs=instead(
        BOTH,
        {
            "added to the scores": f"$SCORES = $SCORES + ($MASK == 0) * -1e9\n{SOFT}",
            "a large negative number": f"$SCORES = $SCORES.masked_fill($MASK == 0, -1e4)\n{SOFT}",
            "divided again": f"{BOTH}\n$WEIGHTS = $WEIGHTS / $WEIGHTS.sum(-1, keepdim=True)",
        },
    )
    | {
        "torch's own attention": (
            Swap(BOTH, ""),
            Swap(USE, "attended = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask != 0)"),
        ),
        "exponentials by hand": (
            Swap(BOTH, "$WEIGHTS = ($SCORES - $SCORES.amax(-1, keepdim=True)).exp() * $MASK"),
            Swap(USE, "attended = weights @ values / weights.sum(-1, keepdim=True)"),
        ),
        "review by review": (
            Swap(BOTH, "", where=PADDED),
            Swap(
                USE,
                "lengths = mask.sum((1, 2, 3)).tolist()\n"
                "rows = [F.softmax(s[..., :n], -1) @ v[:, :n] for s, v, n in zip(scores, values, lengths)]\n"
                "attended = torch.stack(rows)",
            ),
        ),
    },
    pretences={
        "no mask": Swap(AFTER, ""),
        "a gentle mask": Swap(BOTH, f"$SCORES = $SCORES.masked_fill($MASK == 0, -2.0)\n{SOFT}"),
        "stretched": Swap(AFTER, f"{AFTER}\n$WEIGHTS = 1.5 * $WEIGHTS"),
        "values masked instead": (
            Swap(AFTER, "", where=PADDED),
            Swap(USE, "attended = weights @ values.masked_fill(mask.transpose(-1, -2) == 0, 0.0)"),
        ),
        "always the full length": Swap("inputs[:, : (inputs != 0).sum(1).max()]", "inputs"),
    },
    same_forward=True,
    hints=(
        "What should the prediction for a text depend on? What else in the batch can change the prediction?",
        (
            "Put a short text next to a long one in a batch. What does each row of the short text's attention "
            "weights sum to?"
        ),
        "Read the attention from the scores to the weighted values. Write down the order of the operations.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Predict one short text twice in a batch of its own, then once next to a long text.",
            "In a batch of its own, the text gets the same prediction twice: `mode_watch.eval_in_train_mode < 0.5`.",
            "Even in a batch of its own, the text gets two predictions: `mode_watch.eval_in_train_mode > 0.5`.",
        ),
        LookAlike(
            "attention/causal_mask_missing",
            "Sum each row of the attention weights, before the weights multiply the values.",
            "Some rows sum to less than 1.",
            "Each row sums to 1.",
        ),
        LookAlike(
            "recurrent/padding_read_as_text",
            "Find the hidden state that the head reads: does it come from a word or from a padding token?",
            "The model has no such state: the head reads every word.",
            "The hidden state comes from a padding token.",
        ),
    ),
    sources=("https://nlp.seas.harvard.edu/annotated-transformer/",),
    terms=("causal mask", "padding mask"),
    beside={"mini_transformer": ("loss/double_softmax",)},
)
