"""All shapes are as they should be, it trains without a complaint, and what it learns has nothing to do with the text."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "$ALL.view(size, 3, heads, time, head_size).transpose(0, 1)"

FAULT = Fault(
    title="Heads that are cut out of several tokens",
    level=4,
    symptom="degraded",
    edits=Swap("$ALL.view(size, time, 3, heads, head_size).permute(2, 0, 3, 1, 4)", LINE),
    evidence=("dependency.masked_leak > 0.001",),
    effect="dependency.masked_leak > healthy",
    why=(
        "view() reads the numbers on in the order in which they lie in memory, and here that is token by token. Asked for heads "
        "before time it cuts the row of all tokens into pieces of the right size: what is called token 3 of head 0 comes from "
        "another token, and the mask hides places that hold other tokens than it thinks. view() renames, it never moves; "
        "moving an axis takes permute or transpose."
    ),
    fix="First view() along the order that is there, (size, time, 3, heads, head_size), then permute the axes.",
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
        "From which tokens may an output draw, and from which does it?",
        "Give every token a number of its own for a vector, and look where the numbers are after each line of the attention.",
        "Which operations rename the axes of a tensor, which move them, and which is meant where heads are made?",
    ),
    look_alikes=(
        LookAlike(
            "shape/view_instead_of_permute",
            "Send numbered tokens through the attention, and look where the numbers first are out of order.",
            "Where the heads are taken apart.",
            "Where the heads are put together.",
        ),
        LookAlike(
            "attention/causal_mask_missing",
            "Give every token a number for a vector, and see whether a head's row holds one token.",
            "It holds pieces of several.",
            "It holds one, and looks at all the others.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Add up each row of the attention weights, before anything is done with the values.",
            "Rows add up to 1: `dependency.attention_partial_rows < 0.05`.",
            "Rows fall short of 1: `dependency.attention_partial_rows > 0.05`.",
        ),
    ),
    sources=(
        "https://github.com/reczoo/FuxiCTR/issues/30",
        "https://github.com/649453932/Chinese-Text-Classification-Pytorch/issues/10",
    ),
)
