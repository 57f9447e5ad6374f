"""After a dozen steps the loss plateaus at the level of word frequencies. Every line gets the same predictions."""

from bugzoo.faults import words
from bugzoo.faults.idioms import CLIP, LEARNING_RATE
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="Missing learning rate warmup",
    level=4,
    symptom="plateau",
    params={"steps": Param(1, 1, 3, "steps over which the learning rate grows")},
    edits=Swap("warmup = $N", "warmup = $steps"),
    evidence=("metrics.loss > 4.15",),
    effect="metrics.loss > healthy",
    why=(
        "Adam's first updates have the full size of the learning rate, even for tiny gradients, because its running "
        "averages have seen almost no data. In a post-LN transformer (LayerNorm after the residual sum), the last "
        "layers get far larger gradients than the first ones. After a dozen such steps the blocks give every position "
        "the same vector, and LayerNorm keeps it that way. Only the head's biases still learn: how often each word "
        "occurs. Warmup lets the averages and the LayerNorms settle, and pre-LN needs much less of it."
    ),
    fix=(
        "Let the learning rate grow from nearly zero over the first steps, here about 60 of 136. A learning rate low "
        "enough to need no warmup also works, and so does pre-LN."
    ),
    repairs={
        # elsewhere a pretence, here a repair: a low learning rate needs no warmup and learns as much in these few epochs
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
    by_counter=("a longer one",),
    pretences={
        "a few steps more": Swap("warmup = $N", "warmup = 4"),
        "clipped harder": rewrite(CLIP, LIMIT="0.05"),
        "falling in place of growing": Swap("lambda step: $RATE", "lambda step: max(0.2, 1 - step / 300)"),
    },
    free=("update",),
    shown_by=("loss_curve",),
    hints=(
        "Give the model two different lines. How much do the logits differ?",
        "What is the loss of a model that only knows how often each word occurs? Compare that loss with the plateau.",
        "At which step does the loss stop falling? Print the size of the updates in the steps before.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Let the learning rate grow to its full value over the first hundred steps.",
            "The model learns.",
            "Training fails as before, some steps later.",
        ),
        LookAlike(
            "data/everything_unknown",
            "Count the different tokens in one batch and in the text that the batch came from.",
            "The batch has as many different tokens as the text.",
            "Nearly all tokens of the batch are the same one.",
        ),
    ),
    sources=("https://arxiv.org/abs/2002.04745", "https://arxiv.org/abs/1706.03762"),
    cause=Cause(either={words.SCHEDULE: {}}),
    terms=("layer norm", "warmup", "plateau"),
)
