"""Good pictures, and a report that does not believe in them."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Good pictures, and one bad report",
    story=(
        "A small network that reads digits is tidied up before the summer. All 180 losses are what they were, to "
        "the last digit. *“So the run itself is innocent, and all that is new is the report: 26 % of the pictures read right, "
        "at a loss of 2.05 nats, where it used to be 94 %. The pictures that it is tested with must be harder ones. Can "
        "somebody look at how they were chosen?”*"
    ),
    program="digits_cnn",
    fault="data/wrong_normalisation",
    decoys=("traps/log_softmax_first",),
)
