"""The loss plateaus far above zero."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The loss that will not go lower",
    story=(
        "A colleague trains a small perceptron on handwritten digits. Its accuracy is 93 %, so the team did not worry. But the "
        "training loss creeps from 2.3 to 1.55, slower and slower. Last week's version reached 0.17. *“It looks as if there "
        "were a floor.”*"
    ),
    program="mlp",
    fault="loss/double_softmax",
)
