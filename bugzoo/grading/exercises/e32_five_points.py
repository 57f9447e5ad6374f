"""A network that reads five points less than it did."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Five points less, and everything looks in order",
    story=(
        "The network that can be stopped and started again used to read 97 % of the digits at a validation loss of 0.15. Since "
        "its code was put in order it reads 92 %, at 0.49. Nothing is frozen, every weight was asked. *“The training loss is "
        "still going down, so give it more epochs.”*"
    ),
    program="checkpointed_mlp",
    fault="optimizer/some_parameters_left_out",
    decoys=("traps/clipping_bites_rarely",),
    about=(
        "Classify handwritten digits with a perceptron that can be stopped, and started again from a checkpoint.\n\n"
        "With `stop_after = 3` it ends after three epochs and leaves a checkpoint in the folder in which it runs; whoever\n"
        "starts it there again goes on from it. The images ship with scikit-learn: 1797 of them, 64 grey values each.\n"
        "The last 360 are kept back here."
    ),
)
