"""The same losses, and later at home."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The same losses, and later at home",
    story=(
        "A character model is looked after by somebody new, who likes to see what happens. It ends where it always ended, at "
        "31 % of the characters. *“It is what it was, in every digit. I only have the feeling that it used to be through "
        "before I had my coffee.”*"
    ),
    program="mini_transformer",
    fault="speed/sync_every_step",
    seeds=(0, 1),
)
