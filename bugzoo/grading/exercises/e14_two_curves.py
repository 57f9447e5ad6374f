"""Of two curves only one was looked at."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The finest loss that we ever had",
    story=(
        "A network learns to add numbers modulo a prime, from a part of all pairs. *“The training loss ends at 0.003, where the "
        "old version never came below 0.1. I merged it.”* The old version got 99 % of the other pairs right. This one gets 50 %."
    ),
    program="modular_addition",
    fault="fit/no_regularisation",
    about=(
        "Add two numbers modulo 53: a perceptron on two embeddings.\n\n"
        "Half of all pairs are trained on; the others are there to see whether the rule was found."
    ),
)
