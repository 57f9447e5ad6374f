"""All shapes are correct and training runs without an error. What the model learns has nothing to do with the text."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "$ALL.view(size, 3, heads, time, head_size).transpose(0, 1)"

FAULT = Fault(
    title="Attention heads split with the wrong view()",
    level=4,
    symptom="degraded",
    edits=Swap("$ALL.view(size, time, 3, heads, head_size).permute(2, 0, 3, 1, 4)", LINE),
    evidence=("dependency.masked_leak > 0.001",),
    effect="dependency.masked_leak > healthy",
    why=(
        "view() never moves a number. Instead, view() cuts the memory of the tensor, token after token, into the "
        "axes that you name. With heads before time, view() cuts pieces of the right size out of the wrong "
        "tokens. The vector called token 3 of head 0 then comes from another token, and the mask hides positions "
        "that hold other tokens. Moving an axis needs permute() or transpose()."
    ),
    fix=(
        "First call view() in the order of the memory: `view(size, time, 3, heads, head_size)`. Then move the "
        "axes: `permute(2, 0, 3, 1, 4)`."
    ),
    repairs=instead(
        LINE,
        {
            "the last axis split": "$ALL.unflatten(-1, (3, heads, head_size)).permute(2, 0, 3, 1, 4)",
            "in two moves": "$ALL.view(size, time, 3, heads, head_size).permute(2, 0, 1, 3, 4).transpose(2, 3)",
            "three pieces": (
                "[part.view(size, time, heads, head_size).transpose(1, 2) for part in $ALL.chunk(3, dim=-1)]"
            ),
        },
    ),
    pretences=instead(
        LINE,
        {
            "reshape instead of view": "$ALL.reshape(size, 3, heads, time, head_size).transpose(0, 1)",
            "contiguous first": "$ALL.contiguous().view(size, 3, heads, time, head_size).transpose(0, 1)",
            "time before heads": "$ALL.view(size, 3, time, heads, head_size).permute(1, 0, 3, 2, 4)",
        },
    ),
    same_forward=True,
    hints=(
        "Change one token of an input. Which outputs change, and which of them may change?",
        (
            "Set the vector of token i to the number i, and print the tensor after each line of the attention. "
            "Where do two tokens mix?"
        ),
        (
            "Which tensor operations only rename the axes, and which move the numbers? Check the line that "
            "creates the heads."
        ),
    ),
    look_alikes=(
        LookAlike(
            "shape/view_instead_of_permute",
            "Send numbered tokens through the attention, and find where the numbers first get out of order.",
            "The numbers first get out of order where the heads are split.",
            "The numbers first get out of order where the heads are merged.",
        ),
        LookAlike(
            "attention/causal_mask_missing",
            "Set each token's vector to its number, and check whether a row of a head holds one token.",
            "A row holds pieces of several tokens.",
            "A row holds one token, and that token attends to all other tokens.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Sum each row of the attention weights, before the weights multiply the values.",
            "Each row sums to 1: `dependency.attention_partial_rows < 0.05`.",
            "Some rows sum to less than 1: `dependency.attention_partial_rows > 0.05`.",
        ),
    ),
    sources=(
        "https://github.com/reczoo/FuxiCTR/issues/30",
        "https://github.com/649453932/Chinese-Text-Classification-Pytorch/issues/10",
    ),
    cause=Cause(words.DIMENSION, either={words.ATTENTION: {}}),
    terms=("attention head",),
)
