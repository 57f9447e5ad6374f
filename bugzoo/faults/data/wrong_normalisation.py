"""Training goes well. Validation accuracy is far lower from the first epoch on, which overfitting does not explain."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

RAW = "inputs, targets = inputs.to(device), targets.to(device)\nlogits = model(inputs)\nsummed += $LOSS"
PLAIN = "inputs, targets = normalise(inputs).to(device), targets.to(device)\nlogits = model(inputs)\nsummed += $LOSS"

FAULT = Fault(
    title="Validation inputs not normalized like the training inputs",
    level=3,
    symptom="degraded",
    edits=Swap(PLAIN, RAW),
    evidence=("validation_shift.spread_ratio < 0.5",),
    effect="metrics.loss > healthy",
    why=(
        "Training normalizes its inputs to mean 0 and standard deviation 1. The evaluation leaves its inputs at 0 to "
        "1: two fifths of the contrast, and shifted. The weights and the running statistics of BatchNorm do not fit "
        "such inputs. The mean and standard deviation of another data set, or of each batch, cause the same error to "
        "another degree."
    ),
    fix=(
        "Use one preprocessing for training, validation and production: `normalise(inputs)`. Compute mean and "
        "standard deviation on the training set, and save both with the model."
    ),
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
        "Run a training sample through the evaluation code. Is the prediction still right?",
        "Print the mean and standard deviation of one batch right before the model, in both loops.",
        "Compare the training loop and the evaluation loop. What happens to an image in each, before `model(inputs)`?",
    ),
    look_alikes=(
        LookAlike(
            "data/augmented_validation",
            "Evaluate the same weights twice, and compare the inputs of the two evaluations.",
            "The inputs are the same: `validation_shift.redrawn < 0.4`.",
            "The inputs differ: `validation_shift.redrawn > 0.4`.",
        ),
        LookAlike(
            "modes/eval_mode_missing",
            "Compare the mean and standard deviation of the model's inputs in both loops.",
            "The standard deviations differ by more than half: `validation_shift.spread_ratio < 0.5`.",
            "Mean and standard deviation agree: `validation_shift.spread_ratio > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/vision/stable/models.html", "https://pytorch.org/vision/stable/transforms.html"),
    cause=Cause(words.NORMALIZATION),
    terms=("validation set", "normalization"),
)
