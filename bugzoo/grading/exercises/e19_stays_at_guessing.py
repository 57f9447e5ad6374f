"""The loss never leaves what guessing costs."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Not a tenth of a nat in six epochs",
    story=(
        "A perceptron on handwritten digits starts at a loss of 2.30 and ends at 2.30. It reads 7 % of the digits, and last "
        "week's version 95 %. *“It is not slow, it does not move at all. A higher learning rate makes no difference, and "
        "there is a gradient, I looked.”*"
    ),
    program="mlp",
    fault="initialisation/dead_relu",
)
