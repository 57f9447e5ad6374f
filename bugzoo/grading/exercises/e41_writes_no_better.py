"""A number that nearly doubled, and a text that is as poor as before."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Nearly twice as good, and it writes no better",
    story=(
        "A character model with a cache was tidied up. It now guesses 57 % of the characters at a loss of 1.7 nats, where the "
        "version before guessed 30 % at 2.5. *“Every shape is what it was, I printed them all.”* What it writes is about as "
        "likely as before, 2.6 nats a character, and nobody can say why it should be better on real text alone."
    ),
    program="sampler",
    fault="shape/view_instead_of_permute",
    seeds=(0, 1),
)
