"""It trains, but scores worse the more the lengths in a batch differ, and a text's score depends on its padding."""

from bugzoo.faults.idioms import MASKED_SOFTMAX
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

SOFT, AFTER = "$WEIGHTS = F.softmax($SCORES, dim=-1)", "$WEIGHTS = $WEIGHTS.masked_fill($MASK == 0, 0.0)"
BOTH, USE = f"{SOFT}\n{AFTER}", "attended = weights @ values"
PADDED = "mask = words[:, None, None, :]"  # where a mask hides padding, not the future

FAULT = Fault(
    title="Attention weights masked after the softmax",
    level=3,
    symptom="degraded",
    edits=rewrite(
        MASKED_SOFTMAX,
        PLACE="$WEIGHTS = $SOFTMAX\n$WEIGHTS = $WEIGHTS.masked_fill($HIDDEN, 0.0)",
    ),
    evidence=("dependency.masked_leak > 0.001",),
    effect="dependency.masked_leak > healthy",
    why=(
        "The softmax divides by a sum that still contains the positions to be hidden. Zeroing them afterwards leaves "
        "rows that add up to less than one, by an amount that depends on the hidden positions: padding dilutes short "
        "texts, and under a causal mask the future speaks through the denominator."
    ),
    fix="Set the hidden scores to -inf before the softmax, or divide each row by its sum after masking.",
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
        "What should a text's score depend on, and what else could reach it in a batch?",
        "Take the attention weights of a short text beside a long one. What does each row add up to?",
        "Read the attention from the scores to the weighted values, and note the order of the operations.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Score one short text twice when it is alone, and then once more beside a long one.",
            "Alone it stays the same: `mode_watch.eval_in_train_mode < 0.5`.",
            "It differs even when alone: `mode_watch.eval_in_train_mode > 0.5`.",
        ),
        LookAlike(
            "attention/causal_mask_missing",
            "Add up each row of the attention weights, before anything is done with the values.",
            "Rows fall short of 1.",
            "Rows add up to 1.",
        ),
        LookAlike(
            "recurrent/padding_read_as_text",
            "Look whether the state that the answer is made from stands at a word or at a pad.",
            "There is no such state: every word counts.",
            "At a pad.",
        ),
    ),
    sources=("https://nlp.seas.harvard.edu/annotated-transformer/",),
)
