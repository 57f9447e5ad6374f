"""The loss hardly leaves the value of guessing. Every layer has a gradient, and a larger learning rate helps a little."""

from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead

TWICE = "torch.tensor($DATA, dtype=torch.float32) / 16 / $BY"

FAULT = Fault(
    title="Inputs that are scaled down twice",
    level=2,
    symptom="stuck",
    edits=Swap(
        "torch.tensor($DATA, dtype=torch.float32) / 16", "torch.tensor($DATA, dtype=torch.float32) / 16 / $factor"
    ),
    params={"factor": Param(255, 64, 1000, "what the inputs are divided by a second time")},
    evidence=("data_inspection.max < 0.1",),
    effect="metrics.accuracy < healthy",
    why=(
        "The grey values were brought to 0 to 1, and then divided by 255, as one does with bytes. At most 0.004 arrives at a "
        "layer whose weights begin at about 0.1: its outputs hardly differ between one picture and the next, its gradient is "
        "smaller by the same factor, and most of the early training goes into making the weights large. No shape is wrong."
    ),
    fix="Scale at one place, and look at the range of what enters the model: about 1, mean near 0.",
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
        "Is it wrong, or is it slow? Compare how far the first hundred steps come with how far they usually do.",
        "Print the smallest and the largest number of a batch, right before it enters the model.",
        "Follow one picture from the file to the model, and write down its range after every line.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Print the range of the numbers in one batch that goes into the model.",
            "Thousandths: `data_inspection.max < 0.1`.",
            "About one, as they should be: `data_inspection.max > 0.1`.",
        ),
        LookAlike(
            "fit/trained_too_short",
            "Look how large the inputs of the first layer are, and compare them with one.",
            "Hundreds of times smaller.",
            "About as large.",
        ),
    ),
    sources=("https://pytorch.org/vision/stable/transforms.html", "https://karpathy.github.io/2019/04/25/recipe/"),
)
