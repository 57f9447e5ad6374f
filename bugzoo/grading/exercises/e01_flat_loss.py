"""The loss comes down to a floor far above zero."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The loss that will not go lower",
    story=(
        "A colleague trains a small perceptron on handwritten digits. It reads most of them, so nobody worried. But the "
        "training loss creeps from 2.3 to 1.55 in six epochs, and three times as many epochs bring it no lower than 1.49: "
        "*“it is as if there were a floor.”*"
    ),
    program="mlp",
    fault="loss/double_softmax",
)
