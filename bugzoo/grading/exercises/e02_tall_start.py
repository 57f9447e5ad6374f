"""A first loss that is far too high."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A loss that begins where others never are",
    story=(
        "Since somebody wrote the loop anew, the log of this convolutional network begins at 72 and ends at 18. The old one "
        "began at 2.2 and ended at 0.57. The digits are read as before, 94 % of them. *“So it is only another number on the "
        "screen,”* says the author. *“Then why,”* asks the one who is to train a larger model with it, *“do my old settings no "
        "longer work?”*"
    ),
    program="digits_cnn",
    fault="loss/sum_reduction",
)
