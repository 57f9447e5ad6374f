"""The loss barely drops below that of guessing. Every layer has a gradient. A larger learning rate helps a little."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead

TWICE = "torch.tensor($DATA, dtype=torch.float32) / 16 / $BY"

FAULT = Fault(
    title="Pixel values scaled to [0, 1] twice",
    level=2,
    symptom="stuck",
    edits=Swap(
        "torch.tensor($DATA, dtype=torch.float32) / 16", "torch.tensor($DATA, dtype=torch.float32) / 16 / $factor"
    ),
    params={"factor": Param(255, 64, 1000, "divisor of the second scaling")},
    evidence=("data_inspection.max < 0.1",),
    effect="metrics.accuracy < healthy",
    why=(
        "The gray values were scaled to 0-1, and then divided by 255 again, as if they were bytes. The first layer "
        "receives at most 0.004, and its weights start at about 0.1. The outputs of this layer hardly differ from "
        "one image to the next, and its gradient shrinks by the same factor. Most of the early training goes into "
        "growing the weights. All shapes are right, so PyTorch raises no error."
    ),
    fix=(
        "Scale the inputs in one place only. Then print the range of the inputs right before the model: values of "
        "about 1, and a mean near 0."
    ),
    repairs=instead(
        TWICE,
        {
            "by sixteen, the other way": "torch.tensor($DATA, dtype=torch.float32) * 0.0625",
            "by the largest value": "torch.tensor($DATA / 16.0, dtype=torch.float32)",
            "and back again": f"{TWICE} * $BY",
        },
    ),
    pretences=instead(
        TWICE,
        {
            "by sixteen twice": "torch.tensor($DATA, dtype=torch.float32) / 16 / 16",
            "only by the wrong one": "torch.tensor($DATA, dtype=torch.float32) / $BY / 4",
            "shifted": f"{TWICE} - 0.002",
        },
    )
    | {"twice the rate": Swap("learning_rate = $RATE", "learning_rate = fold($RATE * 2)")},
    hints=(
        "Is training broken or only slow? Compare the loss drop of the first hundred steps with the usual one.",
        "Print `inputs.min()` and `inputs.max()` of one batch, right before `model(inputs)`.",
        "Follow one image from the file to the model. Write down its range after every line.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Print the range of the values in one batch, right before it enters the model.",
            "The values are a few thousandths: `data_inspection.max < 0.1`.",
            "The largest value is about 1, as it should be: `data_inspection.max > 0.1`.",
        ),
        LookAlike(
            "fit/trained_too_short",
            "Print how large the inputs of the first layer are, and compare them with 1.",
            "The inputs are hundreds of times smaller than 1.",
            "The inputs are about as large as 1.",
        ),
    ),
    sources=("https://pytorch.org/vision/stable/transforms.html", "https://karpathy.github.io/2019/04/25/recipe/"),
    cause=Cause(words.NORMALIZATION),
    terms=("data inspection", "normalization"),
    beside={"mlp": ("freezing/frozen_layers",)},
)
