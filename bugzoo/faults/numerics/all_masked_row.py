"""The loss is NaN from the first step on. It began when the padding mask was changed."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, LEARNING_RATE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead, rewrite

LINE = 'scores = scores.masked_fill((mask == 0) | (mask == 0).transpose(-2, -1), float("-inf"))'

FAULT = Fault(
    title="Softmax over a fully masked row",
    level=2,
    symptom="non_finite",
    edits=Swap(
        'scores = scores.masked_fill(mask == 0, float("-inf"))', LINE, where="def forward(self, x, mask):\n    $$$BODY"
    ),
    not_on={
        "word_lines": "no line is empty, so no attention row is fully masked. Nothing is NaN (measured on 5 seeds)."
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "A softmax row sums to 1. If every score of the row is -inf, exp() gives 0 everywhere, and 0/0 is NaN. "
        "Here the mask covers queries as well as keys, so every padding position has such a row. Multiplying the "
        "row by 0 afterwards does not help, because 0 times NaN is NaN."
    ),
    fix="Mask only the keys, and ignore the outputs at padding positions afterwards. Or mask with a finite low number.",
    repairs=instead(
        LINE,
        {
            "a finite low number": "scores = scores.masked_fill((mask == 0) | (mask == 0).transpose(-2, -1), -1e9)",
            "the lowest there is": "scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)",
            "added": 'scores = scores + torch.zeros(mask.shape).masked_fill(mask == 0, float("-inf"))',
        },
    )
    | {
        "rows of nothing hide nothing": Swap(
            LINE,
            "hidden = (mask == 0) | (mask == 0).transpose(-2, -1)\n"
            'scores = scores.masked_fill(hidden & ~hidden.all(-1, keepdim=True), float("-inf"))',
        )
    },
    pretences=instead(
        LINE,
        {
            "nothing is masked": "scores = scores",
            "queries alone": "scores = scores.masked_fill((mask == 0).transpose(-2, -1), -1e9)",
        },
    )
    | {
        "mended behind the block": Swap(
            "$X = $X + self.attention($$$ARGS)", "$X = $X + self.attention($$$ARGS).nan_to_num()"
        ),
        "loss mended": before(BACKWARD, "loss = torch.nan_to_num(loss)"),
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 10)"),
    },
    same_forward=True,
    shown_by=("replay",),
    hints=(
        "Run a batch of equally long reviews and a batch of mixed lengths. Which loss is NaN?",
        "Follow one padded review through the model. Which row of which tensor is NaN first?",
        "For each query of a short review, count the keys that it may attend to.",
    ),
    look_alikes=(
        LookAlike(
            "numerics/zero_norm_division",
            "Train on reviews of one length only. Does a loss still become NaN?",
            "No loss becomes NaN.",
            "The loss becomes NaN as before.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Divide the learning rate by ten and see whether a loss becomes NaN at the same step as before.",
            "The loss becomes NaN at the same step, whatever the learning rate: `first_non_finite.found > 0.5`.",
            "No loss is NaN, before or after, and the loss swings less: `first_non_finite.found < 0.5`.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/41508",),
    cause=Cause(either={words.MASK: {}}),
    terms=("padding mask", "NaN"),
)
