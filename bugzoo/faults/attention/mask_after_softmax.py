"""It trains, but scores worse the more the lengths in a batch differ, and a text's score depends on its padding."""

from bugzoo.faults.idioms import MASKED_SOFTMAX
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import rewrite

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
    hints=(
        "Score one text alone and again beside a longer one. Should the result change?",
        "Look at the attention weights of a short text: what does each row add up to?",
        "Read the attention from scores to weights and note in which order things happen.",
    ),
    look_alikes=(
        LookAlike(
            "attention/causal_mask_missing",
            "There rows add up to one and the future is seen in full; here rows fall short of one.",
        ),
        LookAlike("recurrent/padding_read_as_text", "That needs no attention: the last state is taken at a pad."),
    ),
    sources=("https://nlp.seas.harvard.edu/annotated-transformer/",),
)
