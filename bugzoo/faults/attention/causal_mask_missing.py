"""The language model's loss falls far below what anybody reports, but the text that it writes is nonsense."""

from bugzoo.faults.idioms import MASK
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, remove

SOFT, USE = "weights = F.softmax($SCORES, dim=-1)", "attended = weights @ values"

FAULT = Fault(
    title="Attention that sees the tokens it should predict",
    level=2,
    symptom="too_good",
    edits=remove(MASK),
    not_on={"sequence_classifier": "its mask hides padding, not the future: a review may be read in both directions."},
    evidence=("dependency.future_leak > 0.01",),
    effect="loss_curve.final_loss < healthy",
    why=(
        "In training, position t is asked for the token at t + 1, which stands in the input at t + 1. Without the causal "
        "mask attention simply copies it. The loss falls below the entropy of the text, which no honest model can."
    ),
    fix="Mask the scores of later positions with -inf before the softmax.",
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
        "Is the loss possible? Compare it with the entropy floor that the program states.",
        "Change the last token of an input. Which outputs change, and which should?",
        "Read the attention: at which positions may position t look?",
    ),
    look_alikes=(
        LookAlike(
            "loss/next_token_not_shifted",
            "Change the last token of an input, and see which of the outputs change with it.",
            "All of them change.",
            "Only the last one changes.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Add up each row of the attention weights, before anything is done with the values.",
            "Rows add up to 1, and the loss is below what is possible.",
            "Rows fall short of 1.",
        ),
    ),
    sources=("https://arxiv.org/abs/1706.03762",),
)
