"""The first batch crashes with "mat1 and mat2 shapes cannot be multiplied". Yet every layer has the right size."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

FLAT = "$HIDDEN.flatten()"
AFTER = "inputs, targets = batch(train_codes, batch_size)"

FAULT = Fault(
    title="flatten() without start_dim=1",
    level=1,
    symptom="crash",
    edits=Swap("$HIDDEN.flatten(1)", "$HIDDEN.flatten()"),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "flatten() starts at axis 0, which is the batch. A batch of 32 samples with 128 numbers each becomes one "
        "row of 4096. A layer with 128 inputs cannot read this row. nn.Flatten() starts at axis 1 by default, which "
        "is why the two are easily confused."
    ),
    fix="Write x.flatten(1), torch.flatten(x, start_dim=1) or nn.Flatten()(x). All three keep the batch axis.",
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
        "Which two numbers does the error message name, and which of them belongs to the layer?",
        "The other number is a product of two sizes. Which two?",
        "Print the shape right before the layer that the traceback names, and again one line earlier.",
    ),
    look_alikes=(
        LookAlike(
            "shape/shape_mismatch_deep",
            "Divide the size that the layer did not expect by the batch size.",
            "The result is the size that the layer expects: all samples are in one row.",
            "The result is not the size that the layer expects: a layer has the wrong size.",
        ),
        LookAlike(
            "device/batch_left_on_cpu",
            "Read the error message: does it name two sizes that do not fit, or two devices?",
            "The message names two sizes.",
            "The message names two devices.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.flatten.html",),
    terms=("shape mismatch",),
)
