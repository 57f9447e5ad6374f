"""The first convolution crashes: it expected 1 channel and got 8. Yet every image is gray."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

IMAGES = "torch.tensor(digits.images, dtype=torch.float32).unsqueeze({})"
LAST = IMAGES.format("-1")

FAULT = Fault(
    title="Channels-last images passed to nn.Conv2d",
    level=1,
    symptom="crash",
    edits=Swap(IMAGES.format("1"), LAST),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "nn.Conv2d expects (batch, channels, height, width). Image files, NumPy, PIL and TensorFlow put the color "
        "channels last: (batch, 8, 8, 1). A convolution reads this as an image of 8 channels, 8 pixels high and 1 "
        "wide. With 3 channels and 224 pixels, the error message names 224 in place of 3. Where the numbers happen "
        "to agree, there is no error message."
    ),
    fix=(
        "Write x.permute(0, 3, 1, 2), or unsqueeze(1) for gray images. The memory format torch.channels_last "
        "changes no shape."
    ),
    repairs=instead(
        LAST,
        {
            "permuted": f"{LAST}.permute(0, 3, 1, 2)",
            "moved": f"torch.movedim({LAST}, -1, 1)",
            "an axis by indexing": "torch.tensor(digits.images, dtype=torch.float32)[:, None]",
        },
    ),
    pretences={
        "eight channels for it": Swap("nn.Conv2d(1, $$$REST)", "nn.Conv2d(8, $$$REST)"),
        "only the memory format": Swap(LAST, f"{LAST}.contiguous(memory_format=torch.channels_last)"),
        "a scrambled view": Swap(LAST, f"{LAST}.flip(0).reshape(-1, 1, 8, 8)"),
    },
    hints=(
        "Which two numbers does the error message name? One of them belongs to the layer.",
        "Print the shape of a batch, and say what each axis means.",
        "Find the line where the images get their fourth axis.",
    ),
    look_alikes=(
        LookAlike(
            "shape/flatten_eats_batch",
            "Read in the traceback which layer fails: the first or the last.",
            "The first layer fails, on the images as they were read.",
            "The last layer fails, the head.",
        ),
        LookAlike(
            "shape/shape_mismatch_deep",
            "Print the shape of a batch before it goes into the model.",
            "The axes have another order than the layers expect.",
            "The shape is right, and two layers do not agree.",
        ),
        LookAlike(
            "device/batch_left_on_cpu",
            "Read the last line of the error. Does it name two sizes or two devices?",
            "It names two sizes.",
            "It names two devices.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv2d.html",
        "https://docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html",
    ),
    terms=("shape mismatch",),
)
