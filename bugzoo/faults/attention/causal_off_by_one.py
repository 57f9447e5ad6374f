"""The language model's loss falls well below what its size can reach, but the generated text is no better."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

LINE, USE = "torch.tril($ONES, diagonal=1)", "attended = weights @ values"

FAULT = Fault(
    title="Causal mask off by one",
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
        "At position t the target is the token at t + 1. A mask with one diagonal too many, such as "
        "`torch.tril(ones, diagonal=1)`, lets position t attend to exactly that token. Each layer adds one more "
        "position: with two layers, position t sees the target and the token after the target. During generation "
        "the next token does not exist yet, so the low loss does not carry over."
    ),
    fix=(
        "Keep the diagonal and everything below it: `torch.tril(ones)`. Or hide everything above the diagonal: "
        "`torch.triu(ones, diagonal=1)`."
    ),
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
        "Is this loss possible? Compare the training loss with the entropy floor that the program states.",
        (
            "Change one token of an input. At which position do the logits change first, and at which should they "
            "change first?"
        ),
        (
            "Print the mask for four positions. Next to each row, write which tokens the row may see and which "
            "token is its target."
        ),
    ),
    look_alikes=(
        LookAlike(
            "attention/causal_mask_missing",
            "Change the last token of an input: at how many earlier positions do the logits change?",
            "The logits change at two earlier positions at most, one per layer: `dependency.future_reach < 3`.",
            "The logits change at all earlier positions: `dependency.future_reach > 3`.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Sum each row of the attention weights, before the weights multiply the values.",
            "Each row sums to 1: `dependency.attention_partial_rows < 0.05`.",
            "Some rows sum to less than 1: `dependency.attention_partial_rows > 0.05`.",
        ),
        LookAlike(
            "loss/next_token_not_shifted",
            "Print a row of inputs above its row of targets: by how many positions are they shifted?",
            "The targets are shifted by one position, as they should be.",
            "The targets are not shifted: the target of each position is its own input token.",
        ),
    ),
    sources=("https://github.com/RVC-Boss/GPT-SoVITS/issues/965", "https://arxiv.org/abs/1706.03762"),
    terms=("causal mask", "next-token shift", "teacher forcing"),
)
