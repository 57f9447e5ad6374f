"""The first forward pass crashes inside the model. The two shapes in the error message appear nowhere in the code."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

DEEP = "nn.Linear($TIMES * width // 2, width)"
FLAT = "nn.Linear(hidden_size // 2, $OUT)"

FAULT = Fault(
    title="nn.Linear in_features does not match the previous layer",
    level=1,
    symptom="crash",
    edits=either(
        Swap("nn.Linear($TIMES * width, width)", "nn.Linear($TIMES * width // 2, width)"),
        Swap("self.layer2 = nn.Linear(hidden_size, $OUT)", "self.layer2 = nn.Linear(hidden_size // 2, $OUT)"),
        Swap("self.head = nn.Linear(hidden_size, $OUT)", "self.head = nn.Linear(hidden_size // 2, $OUT)"),
    ),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "nn.Linear multiplies the last axis of its input by a matrix, so that axis must have length in_features. "
        "Each size is written twice, once as the output of a layer and once as the input of the next. PyTorch "
        "compares the two only when the model runs. The error message names the shapes of the matrix product, not "
        "the layer."
    ),
    fix=(
        "Set each in_features to the out_features of the layer before, with one variable for both. Or write "
        "nn.LazyLinear(out_features)."
    ),
    repairs=instead(
        DEEP,
        {
            "the size in other words": "nn.Linear(width * $TIMES, width)",
            "found out at the first call": "nn.LazyLinear(width)",
            "without a quotient": "nn.Linear($TIMES * width, width, bias=True)",
        },
    )
    | instead(
        FLAT,
        {
            "the whole size": "nn.Linear(in_features=hidden_size, out_features=$OUT)",
            "with a bias": "nn.Linear(hidden_size, $OUT, bias=True)",
            "half of it twice": "nn.Linear(hidden_size // 2 * 2, $OUT)",
        },
    ),
    pretences=instead(
        DEEP,
        {
            "three quarters": "nn.Linear($TIMES * width * 3 // 4, width)",
            "turned round": "nn.Linear(width, $TIMES * width)",
        },
    )
    | instead(
        FLAT,
        {
            "three quarters of it": "nn.Linear(hidden_size * 3 // 4, $OUT)",
            "the size turned round": "nn.Linear($OUT + 1, hidden_size)",
        },
    ),
    hints=(
        "Which two numbers in the error message do not fit, and where in the model does each come from?",
        "Print the shape of the input of each layer, up to the layer that fails.",
        "Read the sizes of the layers from first to last. Does each layer take the size that the one before gives?",
    ),
    look_alikes=(
        LookAlike(
            "shape/flatten_eats_batch",
            "Divide the size that the layer did not expect by the batch size.",
            "The result is not the size that the layer expects: a layer has the wrong size.",
            "The result is the size that the layer expects: all samples are in one row.",
        ),
        LookAlike(
            "device/batch_left_on_cpu",
            "Read the error message: does it name two sizes that do not fit, or two devices?",
            "The message names two sizes.",
            "The message names two devices.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.Linear.html",),
    terms=("shape mismatch",),
)
