"""Write the change that no plot shows."""

from bugzoo.grading.breaking.model import Breaking

BREAKING = Breaking(
    title="A change that no plot shows",
    story=(
        "You are to set a question for your own colleagues: a run of the digit reader that looks well in everything "
        "that they usually plot. The losses of the training are finite and fall, the accuracy is one that nobody would "
        "stop at. And yet the model has not been trained the way that its text says, from the middle of the run on."
    ),
    program="digits_cnn",
    fault="modes/train_mode_not_restored",
    ways=("once before the loop",),
    others=("modes/dropout_in_functional_form", "loop/stale_gradients", "optimizer/lr_too_high"),
)
