"""Since padding is masked in both directions the loss is nan from the first step on."""

from bugzoo.faults.idioms import BACKWARD, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead, rewrite

LINE = 'scores = scores.masked_fill((mask == 0) | (mask == 0).transpose(-2, -1), float("-inf"))'

FAULT = Fault(
    title="A row of attention scores that is masked from end to end",
    level=2,
    symptom="non_finite",
    edits=Swap(
        'scores = scores.masked_fill(mask == 0, float("-inf"))', LINE, where="def forward(self, x, mask):\n    $$$BODY"
    ),
    not_on={
        "word_lines": "no line is empty, so that no row of its attention is masked whole: nothing is NaN, measured on 5 seeds."
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "A softmax gives out shares of 1. Where every score of a row is -inf there is nothing to share: exp() gives 0 "
        "everywhere, and 0/0 is nan. The rows of the padding places are such rows, as soon as the mask covers queries as "
        "well as keys. Multiplying them by 0 afterwards does not help: 0 times nan is nan."
    ),
    fix="Mask keys only, and leave out afterwards what padding places say; or mask with a finite low number.",
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
        "Run a batch of reviews that are equally long, and one in which they are not.",
        "Follow one padded review through the model: which row of which tensor is nan first?",
        "For each query of a short review, count the keys that it may look at.",
    ),
    look_alikes=(
        LookAlike(
            "numerics/zero_norm_division",
            "Give the model reviews of one length only and see whether a loss is lost all the same.",
            "None is lost.",
            "Just as before.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Lower the learning rate by ten and see whether a loss is lost at the same step as before.",
            "At the same step, whatever the rate: `first_non_finite.found > 0.5`.",
            "None is lost, before and after, it swings less: `first_non_finite.found < 0.5`.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/41508",),
)
