"""The loss falls and settles, but far above where it used to be; a larger network and more epochs do not get below it."""

from bugzoo.faults.idioms import EPOCHS, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

WHOLE = "images = torch.tensor(digits.data / 16, dtype=torch.int64).float()"

FAULT = Fault(
    title="Inputs cut off to whole numbers",
    level=2,
    symptom="degraded",
    edits=Swap("images = torch.tensor(digits.data, dtype=torch.float32) / 16", WHOLE),
    evidence=("input_detail.values < 3",),
    effect="metrics.loss > healthy",
    why=(
        "A tensor of whole numbers keeps nothing behind the point, and what is cut off is not rounded: 15/16 becomes 0. Of 17 "
        "grey values two are left, and 1 is only what was at its very brightest, 9 pixels in 100. float() afterwards gives the "
        "layers the type that they ask for, and the digits are gone by then. Nothing fails, and the range is still 0 to 1."
    ),
    fix="int64 is for labels and tokens. Make features float32 from the start, and scale them behind that.",
    repairs=instead(
        WHOLE,
        {
            "float from the start": "images = torch.tensor(digits.data / 16, dtype=torch.float32)",
            "from the array": "images = torch.from_numpy(digits.data).float() / 16",
            "divided afterwards": "images = torch.tensor(digits.data, dtype=torch.int64).float() / 16",
        },
    ),
    pretences=instead(
        WHOLE,
        {
            "rounded": "images = torch.tensor((digits.data / 16).round(), dtype=torch.int64).float()",
            "by way of double": WHOLE.replace(".float()", ".double().float()"),
            "some more levels": "images = torch.tensor(digits.data / 4, dtype=torch.int64).float() / 4",
        },
    )
    | {
        "a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)"),
        "longer": rewrite(EPOCHS, COUNT="fold($COUNT * 2)"),
    },
    shown_by=("data_inspection", "overfit_one_batch", "loss_curve", "generalisation"),
    hints=(
        "What would somebody see who was given one of these inputs, and asked for the answer?",
        "Print ten inputs as they enter the model, and count how many different numbers there are among all of them.",
        "Follow the type of the numbers from the file to the first layer, call by call.",
    ),
    look_alikes=(
        LookAlike(
            "data/double_scaling",
            "Print the largest and the smallest number of all inputs of a batch.",
            "They are 1 and 0, as they should be: `data_inspection.max > 0.5`.",
            "The largest is far below 1: `data_inspection.max < 0.5`.",
        ),
        LookAlike(
            "fit/capacity_too_small",
            "Count the different numbers that occur among the inputs.",
            "There are two: `input_detail.values < 3`.",
            "There are as many as there are grey values: `input_detail.values > 3`.",
        ),
        LookAlike(
            "data/label_noise",
            "Draw some inputs as pictures, with their labels above them.",
            "Whoever looks at them cannot tell them apart either.",
            "They can be read, and some labels are not theirs.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/3346", "https://github.com/espnet/espnet/pull/487"),
)
