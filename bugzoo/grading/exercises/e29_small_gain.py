"""A model that became a little better when it was tidied up."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A gain that nobody ordered",
    story=(
        "A character model was tidied up: the same layers, fewer lines. Since then it guesses 34 % of the characters at a loss "
        "of 2.4 nats, where the version before guessed 31 % at 2.5. *“All shapes are what they were, and the number is better. "
        "Merge it.”* Only what it writes has become worse."
    ),
    program="mini_transformer",
    fault="attention/heads_mixed",
    seeds=(0, 1),
)
