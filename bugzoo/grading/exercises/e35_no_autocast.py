"""Somebody saved memory, and half of the digits cannot be told apart any more."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="No autocast anywhere",
    story=(
        "A perceptron that read 95 % of its digits reads 69 %. Its loss falls, and then it stays far above where it used to be. "
        "*“We had been asked to save memory, so I went through the types of everything and took the last double precision out. "
        "There is no autocast, no scaler, and nothing that would be narrower than it always was: of what belongs to that lesson "
        "there is nothing here. I gave it a higher rate and more epochs, and it came a little of the way back. Is the network "
        "too small?”*"
    ),
    program="mlp",
    fault="precision/integer_features",
)
