"""The language model's loss falls far below any published value, but the text that it generates is nonsense."""

from bugzoo.faults.idioms import MASK
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, remove

SOFT, USE = "weights = F.softmax($SCORES, dim=-1)", "attended = weights @ values"

FAULT = Fault(
    title="Missing causal mask",
    level=2,
    symptom="too_good",
    edits=remove(MASK),
    not_on={
        "sequence_classifier": (
            "its mask hides padding tokens, not future tokens: a review may be read in both directions."
        ),
    },
    evidence=("dependency.future_leak > 0.01",),
    effect="loss_curve.final_loss < healthy",
    why=(
        "At position t the target is the token at t + 1, and the input contains that token at t + 1. Without a "
        "causal mask, attention reads the target from the input and copies it. The training loss falls below the "
        "entropy of the text, which a model that sees only the past cannot reach. During generation the next "
        "token does not exist yet, so the model cannot copy it."
    ),
    fix=(
        'Hide later positions before the softmax: `scores.masked_fill(mask == 0, float("-inf"))`. The mask is '
        "`torch.tril(torch.ones(time, time))`."
    ),
    repairs=instead(
        SOFT,
        {
            "added to the scores": "weights = F.softmax($SCORES + (mask == 0) * -1e9, dim=-1)",
            "a triangle of its own": (
                "later = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)\n"
                'weights = F.softmax($SCORES.masked_fill(later, float("-inf")), dim=-1)'
            ),
        },
    )
    | {
        "torch's own attention": Swap(
            USE, "attended = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)"
        ),
    },
    pretences=instead(
        SOFT,
        {
            "one place too generous": (
                'weights = F.softmax($SCORES.masked_fill(torch.ones_like($SCORES).triu(2) > 0, float("-inf")), dim=-1)'
            ),
            "masked after the softmax": f"{SOFT}\nweights = weights.masked_fill(mask == 0, 0.0)",
            "a gentle mask": "weights = F.softmax($SCORES - 2.0 * (mask == 0), dim=-1)",
        },
    ),
    same_forward=True,
    hints=(
        "Is this loss possible? Compare the training loss with the entropy floor that the program states.",
        "Change the last token of an input. At which positions do the logits change, and at which should they change?",
        (
            "Print the attention weights for four tokens. Which positions does position t look at, and which may "
            "it look at?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "loss/next_token_not_shifted",
            "Change the last token of an input, and check at which positions the logits change.",
            "The logits change at all positions.",
            "Only the logits of the last position change.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Sum each row of the attention weights, before the weights multiply the values.",
            "Each row sums to 1, and the loss is below what is possible.",
            "Some rows sum to less than 1.",
        ),
    ),
    sources=("https://arxiv.org/abs/1706.03762",),
    terms=("causal mask", "teacher forcing"),
    beside={
        "mini_transformer": (
            "loss/double_softmax",
            "loop/stale_gradients",
            "freezing/frozen_layers",
            "loop/stale_gradients + freezing/frozen_layers",
        )
    },
)
