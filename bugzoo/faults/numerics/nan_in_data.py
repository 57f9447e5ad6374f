"""Some time in the first epoch the loss becomes nan; with another seed it is another step, and never the same batch."""

from bugzoo.faults.idioms import BACKWARD, LEARNING_RATE, STEP
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, either, rewrite

LOADER = "train_loader = $LOADER"


def bad(array: str) -> Swap:
    """One number of one training sample is none."""
    spoilt = f'{array}[train[$sample]].view(-1)[5] = float("nan")'
    return Swap(LOADER, f"{spoilt}\n{LOADER}", where=f"{array} = $MADE")


def mended(array: str) -> Swap:
    return Swap(LOADER, f"{array} = torch.nan_to_num({array})\n{LOADER}", where=f"{array} = $MADE")


def chosen(array: str) -> Swap:
    whole = f"{array}[train].flatten(1).isfinite().all(1)"
    return Swap(LOADER, f"train = train[{whole}]\n{LOADER}", where=f"{array} = $MADE")


FAULT = Fault(
    title="One sample of the data holds a nan",
    level=2,
    symptom="non_finite",
    params={"sample": Param(17, 0, 200, "which of the training samples it is")},
    edits=either(bad("images"), bad("rows")),
    not_on={
        "finetune": "its data set holds a copy of the rows by then: nothing is not finite on 5 of 5 seeds.",
        "image_pipeline": "its images have been prepared and kept by then, so that nothing of it reaches the model.",
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "A nan in one number of one sample makes that sample's activations nan, the mean loss of its batch, and every gradient. "
        "After that one step all weights are nan, and so is every loss that follows. It comes when the sample is dealt, once "
        "in 36 batches here, in an order that the seed decides."
    ),
    fix="Look at the data before the training: count what is not finite, and drop or fill it, knowingly.",
    repairs={
        "filled": either(mended("images"), mended("rows")),
        "left out": either(chosen("images"), chosen("rows")),
        "filled before the model": Swap(
            "$ANSWERS = model(inputs)\nloss = $LOSS", "$ANSWERS = model(inputs.nan_to_num())\nloss = $LOSS"
        ),
    },
    pretences={
        "loss mended": before(BACKWARD, "loss = torch.nan_to_num(loss)"),
        "gradients mended": before(
            STEP,
            "for parameter in model.parameters():\n    parameter.grad = torch.nan_to_num(parameter.grad, 0.0, 0.0, 0.0)",
        ),
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 10)"),
        "cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
    },
    shown_by=("data_inspection", "replay"),
    hints=(
        "Does it come at the same step under another seed? And with a learning rate of zero?",
        "Take the batch of the step where it sets in, before the model has touched it.",
        "Ask all of the training data whether every number in it is finite.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Set the learning rate to zero and see whether a loss is lost all the same.",
            "Once an epoch, all the same: `first_non_finite.found > 0.5`.",
            "None is lost: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/sqrt_at_zero",
            "Look for numbers that are not finite in the inputs of the batch where it sets in.",
            "One of them is not.",
            "All inputs are finite.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/",),
)
