"""The loss comes down to a floor far above zero."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The loss that will not go lower",
    story=(
        "A colleague trains a small perceptron on handwritten digits. It reads 93 % of them, so nobody worried. But the training "
        "loss creeps from 2.3 to 1.55, slower and slower, while that of last week's version went down to 0.17: *“it is as if "
        "there were a floor.”*"
    ),
    program="mlp",
    fault="loss/double_softmax",
)
