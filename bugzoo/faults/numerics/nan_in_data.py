"""The loss becomes NaN somewhere in the first epoch. Another seed gives another step and another batch."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, LEARNING_RATE, STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, either, rewrite

LOADER = "train_loader = $LOADER"


def bad(array: str) -> Swap:
    """Set one number of one training sample to nan."""
    spoilt = f'{array}[train[$sample]].view(-1)[5] = float("nan")'
    return Swap(LOADER, f"{spoilt}\n{LOADER}", where=f"{array} = $MADE")


def mended(array: str) -> Swap:
    return Swap(LOADER, f"{array} = torch.nan_to_num({array})\n{LOADER}", where=f"{array} = $MADE")


def chosen(array: str) -> Swap:
    whole = f"{array}[train].flatten(1).isfinite().all(1)"
    return Swap(LOADER, f"train = train[{whole}]\n{LOADER}", where=f"{array} = $MADE")


FAULT = Fault(
    title="NaN in one training sample",
    level=2,
    symptom="non_finite",
    params={"sample": Param(17, 0, 200, "index of the bad sample in the training set")},
    edits=either(bad("images"), bad("rows")),
    not_on={
        "finetune": "its dataset already holds a copy of the rows. Everything is finite on 5 of 5 seeds.",
        "image_pipeline": "its images are already preprocessed and stored, so the NaN never reaches the model.",
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "One NaN in one sample makes that sample's activations NaN. The mean loss of its batch is then NaN, and "
        "so is every gradient. After that one step all weights are NaN, and so is every later loss. One batch in "
        "36 contains the sample here, and the seed decides which one."
    ),
    fix="Check the data before training: count the values that are not finite, then drop or fill them deliberately.",
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
        (
            "Change the seed: does the loss break at the same step? Set the learning rate to zero: does the loss "
            "still break?"
        ),
        "Take the batch of the first bad step and inspect it before the model sees it.",
        "Run torch.isfinite() over all of the training data.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Set the learning rate to zero. Does a loss still become NaN?",
            "A loss still becomes NaN, once per epoch: `first_non_finite.found > 0.5`.",
            "No loss becomes NaN: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/sqrt_at_zero",
            "Check the inputs of the first bad batch for NaN and inf, before the model sees them.",
            "One input is not finite.",
            "All inputs are finite.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/",),
    cause=Cause(words.DATA, also=("bad sample", "nan in the data")),
    terms=("NaN",),
)
