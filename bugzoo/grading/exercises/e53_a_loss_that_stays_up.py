"""Two runs, as good as each other, one with a higher loss."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The loss stays up",
    story=(
        "Somebody else's digit reader and yours both end at 94 %. Theirs has a training loss of 0.57 in the end, "
        "yours of 0.98, and you were told to find out what keeps it there. *“Such a loss, and it is as good? "
        "Then the evaluation is wrong.”*"
    ),
    program="digits_cnn",
    fault="traps/smoothed_targets",
)
