"""A loss that starts in the hundreds."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The steepest curve, and not the best",
    story=(
        "Somebody made the perceptron for digits deeper: *“it learns like mad, the loss falls from about 50 to 0.3.”* The one "
        "before it began at 2.3 and came to 0.17. It read 95 % of the digits, and the new one reads 89 %."
    ),
    program="mlp",
    fault="initialisation/residual_unscaled",
)
