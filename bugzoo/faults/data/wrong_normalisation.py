"""Training goes well, the validation accuracy is far below it from the first epoch on, and no overfitting explains it."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

RAW = "inputs, targets = inputs.to(device), targets.to(device)\nlogits = model(inputs)\nsummed += $LOSS"
PLAIN = "inputs, targets = normalise(inputs).to(device), targets.to(device)\nlogits = model(inputs)\nsummed += $LOSS"

FAULT = Fault(
    title="Validation data that is not normalised as the training data was",
    level=3,
    symptom="degraded",
    edits=Swap(PLAIN, RAW),
    evidence=("validation_shift.spread_ratio < 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "In training every picture is brought to mean 0 and deviation 1, in the evaluation it comes as it is, 0 to 1: two fifths "
        "of the contrast, and shifted. The weights and the running statistics of BatchNorm were made for other numbers. Somebody "
        "else's mean and deviation, or those of each batch, do the same by another amount."
    ),
    fix="One preparation for training, validation and production, with the numbers of the training data, saved with the model.",
    repairs=instead(
        RAW,
        {
            "in two lines": (
                "inputs = normalise(inputs)\ninputs, targets = inputs.to(device), targets.to(device)\n"
                "logits = model(inputs)\nsummed += $LOSS"
            ),
            "by hand": (
                "inputs, targets = ((inputs - mean) / std).to(device), targets.to(device)\n"
                "logits = model(inputs)\nsummed += $LOSS"
            ),
            "where it is called": (
                "inputs, targets = inputs.to(device), targets.to(device)\nlogits = model(normalise(inputs))\nsummed += $LOSS"
            ),
        },
    ),
    pretences=instead(
        RAW,
        {
            "somebody else's numbers": RAW.replace("inputs.to", "((inputs - 0.485) / 0.229).to", 1),
            "by the batch's own": RAW.replace("inputs.to", "((inputs - inputs.amin()) / inputs.amax()).to", 1),
            "augmented as well": RAW.replace("inputs.to", "normalise(augment(inputs)).to", 1),
        },
    ),
    hints=(
        "Give the model a training sample in the evaluation's way. Does it still know it?",
        "Print mean and deviation of a batch right before the model, in both loops.",
        "Compare what happens to a picture in the two loops, word by word.",
    ),
    look_alikes=(
        LookAlike(
            "data/augmented_validation",
            "Evaluate the same weights twice, and compare the inputs of both times.",
            "They are the same: `validation_shift.redrawn < 0.4`.",
            "They differ: `validation_shift.redrawn > 0.4`.",
        ),
        LookAlike(
            "modes/eval_mode_missing",
            "Compare mean and deviation of what goes into the model in both loops.",
            "They differ by more than half: `validation_shift.spread_ratio < 0.5`.",
            "They agree: `validation_shift.spread_ratio > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/vision/stable/models.html", "https://pytorch.org/vision/stable/transforms.html"),
)
