"""Each evaluation of the same weights gives another accuracy, a little too low, even in eval mode."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

BOTH = "inputs, targets = normalise(augment(inputs)).to(device), targets.to(device)\nlogits = model(inputs)\nsummed += $LOSS"
PLAIN = "inputs, targets = normalise(inputs).to(device), targets.to(device)\nlogits = model(inputs)\nsummed += $LOSS"

FAULT = Fault(
    title="Data augmentation left on during validation",
    level=3,
    symptom="noisy_eval",
    edits=Swap(PLAIN, BOTH),
    evidence=("validation_shift.redrawn > 0.4",),
    effect="validation_shift.redrawn > healthy",
    why=(
        "Data augmentation draws new samples from old ones, so training never sees the same input twice. In "
        "validation, augmentation draws another and harder test set each time. Here the random crop shifts the "
        "images by up to one pixel and cuts off what was at the edge. Calling `model.eval()` does not switch "
        "augmentation off, because augmentation is not part of the model."
    ),
    fix=(
        "Use two transforms: a random one for training, and a deterministic one for validation and test. Here the "
        "evaluation needs `normalise(inputs)` without `augment`."
    ),
    repairs=instead(
        BOTH,
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
        BOTH,
        {
            "the other way round": BOTH.replace("normalise(augment(inputs))", "augment(normalise(inputs))"),
            "nothing at all": BOTH.replace("normalise(augment(inputs))", "inputs"),
        },
    )
    | {
        "a fixed seed": Swap(
            "correct, total, summed = 0, 0, 0.0", "torch.manual_seed(seed)\ncorrect, total, summed = 0, 0, 0.0"
        ),
        "eval once more": Swap("model.eval()", "model.eval()\nmodel.train(False)"),
    },
    hints=(
        "Evaluate the same weights twice. Are the inputs of the model the same both times?",
        "Run the evaluation twice. Plot the same validation image from both runs, right before it enters the model.",
        "Compare the training loop and the evaluation loop. What happens to an image in each, before `model(inputs)`?",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Evaluate the same weights twice. Compare the inputs, then the outputs, of both evaluations.",
            "The inputs already differ: `validation_shift.redrawn > 0.4`.",
            "The inputs are the same, but the outputs differ: `validation_shift.redrawn < 0.4`.",
        ),
        LookAlike(
            "data/wrong_normalisation",
            "Evaluate the same weights twice, and compare the inputs of the two evaluations.",
            "The inputs differ: `validation_shift.redrawn > 0.4`.",
            "The inputs are the same: `validation_shift.redrawn < 0.4`.",
        ),
    ),
    sources=("https://pytorch.org/vision/stable/transforms.html",),
    cause=Cause(words.METRIC),
    terms=("augmentation", "validation set"),
    beside={"digits_cnn": ("freezing/frozen_layers", "modes/eval_mode_missing")},
)
