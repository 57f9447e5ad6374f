"""The same checkpoint, two numbers."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The same checkpoint, two numbers",
    story=(
        "The network used to read 97 % of the digits; it now says 94 %, and when a colleague evaluates the very same weights "
        "once more, another number comes out. *“Call it noise and write 94 ± 1.”*"
    ),
    program="checkpointed_mlp",
    fault="modes/eval_mode_missing",
    about=(
        "Classify handwritten digits with a perceptron that can be stopped, and started again from a checkpoint.\n\n"
        "With `stop_after = 3` it ends after three epochs and leaves a checkpoint in the folder in which it runs; whoever\n"
        "starts it there again goes on from it. The images ship with scikit-learn: 1797 of them, 64 grey values each.\n"
        "The last 360 are left alone here."
    ),
)
