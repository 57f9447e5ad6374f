"""Some digits are read nearly always, and others are not."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Training is as good as ever",
    story=(
        "A post office changed the way in which its pictures arrive, and trained the old network on them. The training loss "
        "ends where it always ended, a shade lower even. Yet of the pictures held back it reads 76 %, where it read 97 %. "
        "*“It has overfitted, obviously. Fewer epochs, and a smaller network.”*"
    ),
    program="checkpointed_mlp",
    fault="data/class_imbalance_ignored",
    about=(
        "Classify handwritten digits with a perceptron that can be stopped, and started again from a checkpoint.\n\n"
        "With `stop_after = 3` it ends after three epochs and leaves a checkpoint in the folder in which it runs; whoever\n"
        "starts it there again goes on from it. The images ship with scikit-learn: 1797 of them, 64 grey values each.\n"
        "The last 360 are left alone here."
    ),
)
