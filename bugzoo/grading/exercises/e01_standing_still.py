"""A loss that stays where guessing is."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It stands still, again",
    story=(
        "The next complaint about the small perceptron for digits: the loss is 2.3 when it begins and 2.3 when it ends, and "
        "7 % of the digits are read where 95 % were. *“I went through the loop line by line, it is as it should be. I also took "
        "a tenth of the learning rate, then a smaller network. It stands still.”*"
    ),
    program="mlp",
    fault="data/double_scaling",
)
