"""The loss falls, then plateaus far above where it used to be. A larger network and more epochs do not help."""

from bugzoo.faults import words
from bugzoo.faults.idioms import EPOCHS, LEARNING_RATE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

WHOLE = "images = torch.tensor(digits.data / 16, dtype=torch.int64).float()"

FAULT = Fault(
    title="Input features truncated to int64",
    level=2,
    symptom="degraded",
    edits=Swap("images = torch.tensor(digits.data, dtype=torch.float32) / 16", WHOLE),
    evidence=("input_detail.values < 3",),
    effect="metrics.loss > healthy",
    why=(
        "A cast to int64 drops everything after the decimal point, without rounding: 15/16 becomes 0. Of 17 gray "
        "values only two are left, and only the very brightest pixels, 9 in 100, are 1. Calling float() "
        "afterwards gives the layers the dtype that they need, but the lost values stay lost. Nothing fails, and "
        "the range is still 0 to 1."
    ),
    fix="Use int64 for labels and tokens only. Create features as float32 from the start, and scale them after that.",
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
        "Draw a few inputs exactly as they enter the model. Could you name the class yourself?",
        "Print ten inputs as they enter the model. How many different numbers occur among all of them?",
        "Follow the dtype of the inputs from the file to the first layer, call by call.",
    ),
    look_alikes=(
        LookAlike(
            "data/double_scaling",
            "Print the smallest and the largest number among all inputs of a batch.",
            "The inputs range from 0 to 1, as they should: `data_inspection.max > 0.5`.",
            "The largest input is far below 1: `data_inspection.max < 0.5`.",
        ),
        LookAlike(
            "fit/capacity_too_small",
            "Count how many different numbers occur among the inputs of a batch.",
            "The inputs hold only two different numbers: `input_detail.values < 3`.",
            "The inputs hold as many numbers as there are gray values: `input_detail.values > 3`.",
        ),
        LookAlike(
            "data/label_noise",
            "Draw some inputs as images, with the label above each of them.",
            "You cannot tell the classes apart either.",
            "The images are readable, but some labels are wrong.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/3346", "https://github.com/espnet/espnet/pull/487"),
    cause=Cause(words.INPUTS, either={words.DTYPE: {}}),
    terms=("dtype", "data inspection"),
)
