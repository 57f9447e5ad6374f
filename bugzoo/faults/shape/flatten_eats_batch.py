"""The first batch stops with "mat1 and mat2 shapes cannot be multiplied", although every layer has its right size."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

FLAT = "$HIDDEN.flatten()"
AFTER = "inputs, targets = batch(train_codes, batch_size)"

FAULT = Fault(
    title="flatten() takes the samples of a batch together",
    level=1,
    symptom="crash",
    edits=Swap("$HIDDEN.flatten(1)", "$HIDDEN.flatten()"),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "flatten() begins at axis 0, which is the batch: 32 samples of 128 numbers become one row of 4096, and a layer that "
        "takes 128 cannot read it. nn.Flatten begins at axis 1 by itself, which is why the two are taken for one."
    ),
    fix="x.flatten(1), torch.flatten(x, start_dim=1) or nn.Flatten(): the batch stays.",
    repairs=instead(
        FLAT,
        {
            "start_dim": "torch.flatten($HIDDEN, start_dim=1)",
            "a layer": "nn.Flatten()($HIDDEN)",
            "reshaped": "$HIDDEN.reshape(len($HIDDEN), -1)",
        },
    ),
    pretences=instead(
        FLAT,
        {
            "the batch in the rows again": "$HIDDEN.flatten().reshape(-1, len($HIDDEN)).T",
            "means instead": "$HIDDEN.mean((0, 2, 3)).repeat(len($HIDDEN), $HIDDEN.shape[2] * $HIDDEN.shape[3])",
            "the samples side by side": "$HIDDEN.flatten().unsqueeze(0)",
        },
    ),
    hints=(
        "Which two numbers does the message name, and which of them belongs to the layer?",
        "The other number is a product. Of what?",
        "Print the shape in front of the layer that the traceback names and behind the line before it.",
    ),
    look_alikes=(
        LookAlike(
            "shape/shape_mismatch_deep",
            "Divide the number that the message names by the batch size: what comes out?",
            "What the layer expects: the samples were put into one row.",
            "Nothing whole: a layer has the wrong size.",
        ),
        LookAlike(
            "device/batch_left_on_cpu",
            "Read of what the message speaks: of two sizes that do not fit, or of two devices.",
            "Of two sizes.",
            "Of two devices.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.flatten.html",),
)
