"""Both curves lie at one height, far too high."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Two curves at one height",
    story=(
        "A network learns to add two numbers on a clock: it sees most of the pairs and their sums, and is asked for the rest. "
        "*“The pairs that it saw and the others cost the same, so it does not overfit. But both stay far too high, and the run "
        "ends there. A smaller rate does not help, and neither does a larger one. I would ask for more data, but these are "
        "all the pairs that there are.”*"
    ),
    program="modular_addition",
    fault="fit/capacity_too_small",
    about=(
        "Add two numbers modulo 53, as on a clock with 53 hours: a perceptron on two embeddings. It is trained on some of "
        "all pairs, with weight decay, and evaluated on others."
    ),
)
