"""The loss falls for a dozen steps, to where word counts alone would bring it, and stays; every line gets the same guesses."""

from bugzoo.faults.idioms import CLIP, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="Warm-up missing",
    level=4,
    symptom="plateau",
    params={"steps": Param(1, 1, 3, "steps in which the rate grows")},
    edits=Swap("warmup = $N", "warmup = $steps"),
    evidence=("metrics.loss > 4.15",),
    effect="metrics.loss > healthy",
    why=(
        "Adam's first steps are as long as its rate says, however small the gradients are, for its averages have seen next to "
        "nothing. With the norms behind the sums the last layers get gradients that are far larger than those of the first; "
        "thrown about by a dozen such steps the blocks give every place the same vector, the norms keep it there, and only the "
        "head's biases learn: how often each word comes. A rate that grows over the first steps lets the averages and the norms "
        "settle; with the norms in front of the branches much less of it is needed."
    ),
    fix=(
        "Let the rate grow from nearly nothing over the first steps, here about 60 of 136, take a rate that needs no warm-up, or "
        "put the norms in front."
    ),
    repairs={
        # here everybody's pretence is right: a rate that needs no warm-up learns as much in these few epochs
        "lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 10)"),
        "a longer one": Swap("warmup = $N", "warmup = 70"),
        "written into the groups": Swap(
            "optimizer.step()",
            'for group in optimizer.param_groups:\n    group["lr"] = learning_rate * min(1.0, (step + 1) / 60)\noptimizer.step()',
        ),
        "torch's own": Swap(
            "torch.optim.lr_scheduler.LambdaLR($$$A)",
            "torch.optim.lr_scheduler.LinearLR(optimizer, 1 / 60, total_iters=60)",
        ),
    },
    pretences={
        "a few steps more": Swap("warmup = $N", "warmup = 4"),
        "clipped harder": rewrite(CLIP, LIMIT="0.05"),
        "falling in place of growing": Swap("lambda step: $RATE", "lambda step: max(0.2, 1 - step / 300)"),
    },
    hints=(
        "Give the model two different lines. How far apart are its answers?",
        "What would the loss be for somebody who knew how often each word comes, and nothing else?",
        "At which step did it stop to fall, and what was special about the steps before?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Keep the rate, and let it grow to there over the first hundred steps.",
            "Then it learns.",
            "It fails as before, some steps later.",
        ),
        LookAlike(
            "data/everything_unknown",
            "Count how many different tokens a batch holds, beside those of the text.",
            "As many as the text has.",
            "Nearly all of them are one.",
        ),
    ),
    sources=("https://arxiv.org/abs/2002.04745", "https://arxiv.org/abs/1706.03762"),
)
