"""The language model's loss falls well below what its size can reach, and what it writes is no better for it."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

LINE, USE = "torch.tril($ONES, diagonal=1)", "attended = weights @ values"

FAULT = Fault(
    title="A causal mask that is one place too generous",
    level=3,
    symptom="too_good",
    edits=either(
        Swap("torch.tril($ONES)", "torch.tril($ONES, diagonal=1)"),
        Swap("torch.triu($ONES, diagonal=1)", "torch.triu($ONES, diagonal=2)"),
        Swap("torch.triu($ONES, 1)", "torch.triu($ONES, 2)"),
    ),
    evidence=("dependency.future_leak > 0.01",),
    effect="loss_curve.final_loss < healthy",
    why=(
        "Position t is asked for the token at t + 1. A triangle whose diagonal begins one place to the right lets it look at "
        "exactly that token, which stands in the input at t + 1. Each layer adds one place more: with two layers the answer "
        "and the token behind it are in reach. When text is written there is no next token yet, and the skill is gone."
    ),
    fix="The causal triangle holds the diagonal and what is below it: torch.tril(ones), or hide torch.triu(ones, diagonal=1).",
    repairs=instead(
        LINE,
        {
            "the diagonal in words": "torch.tril($ONES, diagonal=0)",
            "what is above taken off": "($ONES - torch.triu($ONES, diagonal=1))",
            "a triangle turned round": "torch.triu($ONES).T.contiguous()",
        },
    )
    | {
        "torch's own attention": Swap(
            USE, "attended = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)"
        ),
    },
    pretences=instead(
        LINE,
        {
            "the other triangle": "torch.triu($ONES, diagonal=-1)",
            "a smaller leak": f"({LINE} - 0.999 * torch.diag($ONES[0, 1:], 1))",
            "no diagonal": "torch.tril($ONES, diagonal=-1)",
        },
    )
    | {
        "zeroed behind the softmax": Swap(
            "weights = F.softmax($SCORES, dim=-1)",
            "weights = F.softmax($SCORES, dim=-1)\n"
            "weights = weights * torch.tril(torch.ones(time, time, device=x.device))",
        )
    },
    same_forward=True,
    hints=(
        "Is the loss possible? Compare it with the entropy floor that the program states.",
        "Change one token of an input. Which is the first output that changes, and which should it be?",
        "Print the mask for four positions, and say for each row what it may see and what it is asked for.",
    ),
    look_alikes=(
        LookAlike(
            "attention/causal_mask_missing",
            "Change the last token of an input: how many places before it does an output change?",
            "At most one place for each layer, two here: `dependency.future_reach < 3`.",
            "All of them: `dependency.future_reach > 3`.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Add up each row of the attention weights, before anything is done with the values.",
            "Rows add up to 1: `dependency.attention_partial_rows < 0.05`.",
            "Rows fall short of 1: `dependency.attention_partial_rows > 0.05`.",
        ),
        LookAlike(
            "loss/next_token_not_shifted",
            "Look at a row of inputs and targets side by side: what is the distance between them?",
            "One place, as it should be.",
            "None: each place is asked for itself.",
        ),
    ),
    sources=("https://github.com/RVC-Boss/GPT-SoVITS/issues/965", "https://arxiv.org/abs/1706.03762"),
)
