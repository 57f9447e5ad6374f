"""A loss that begins well and is gone before the first epoch is over."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A short life",
    story=(
        "A reader of digits is trained by a recipe from a paper. Its first losses are as they should be, and long "
        "before the first epoch is over each number is nan. *“It is the learning rate, as always with nan. I have halved it, "
        "and halved it again: it lives a few steps longer each time, so I am on the right way.”*"
    ),
    program="finetune",
    fault="numerics/exp_overflow",
)
