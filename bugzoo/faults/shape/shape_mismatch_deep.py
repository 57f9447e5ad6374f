"""The first forward pass stops inside a block, with two shapes that nobody has written down anywhere."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

DEEP = "nn.Linear($TIMES * width // 2, width)"
FLAT = "nn.Linear(hidden_size // 2, $OUT)"

FAULT = Fault(
    title="A layer in the middle expects another size than it gets",
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
        "A linear layer holds a matrix of in x out and multiplies the last axis of what comes, which must be as long as `in`. "
        "Sizes are written twice, once where numbers leave a layer and once where they enter the next, and only running the "
        "model compares the two. The message names shapes of the product, not the layer."
    ),
    fix="Follow the sizes through the layers, out of one and into the next; take both from one name, or print them once.",
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
        "Which two numbers does the message say do not fit, and where in the model does each come from?",
        "Print the shape of what goes into each layer, until the one that fails.",
        "Read the sizes of the layers from the first to the last: is what one gives what the next one takes?",
    ),
    look_alikes=(
        LookAlike(
            "shape/flatten_eats_batch",
            "Divide the number that the message names by the batch size: what comes out?",
            "Nothing whole: a layer has the wrong size.",
            "What the layer expects: the samples were put into one row.",
        ),
        LookAlike(
            "device/batch_left_on_cpu",
            "Read of what the message speaks: of two sizes that do not fit, or of two devices.",
            "Of two sizes.",
            "Of two devices.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.Linear.html",),
)
