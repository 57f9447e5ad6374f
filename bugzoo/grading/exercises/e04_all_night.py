"""A perceptron that was given all night."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="All night, and nothing",
    story=(
        "A perceptron for digits reads 7 % of them, and its loss ends at 2.30, where it began. *“It needs time,”* said a "
        "colleague, and gave it a whole night: the same number. *“Then it needs more pictures.”* Give it a single batch first."
    ),
    program="checkpointed_mlp",
    fault="optimizer/weight_decay_too_strong",
    about=(
        "Classify handwritten digits with a perceptron that can be stopped, and started again from a checkpoint.\n\n"
        "With `stop_after = 3` it ends after three epochs and leaves a checkpoint in the folder in which it runs; whoever\n"
        "starts it there again goes on from it. The images ship with scikit-learn: 1797 of them, 64 grey values each.\n"
        "The last 360 are left alone here."
    ),
)
