"""A trial by the book, of the wrong quantity."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It does not pay",
    story=(
        "A digit reader gets 94 % of its pictures right, and it is to become sturdier: while it learns, each picture is moved "
        "about a little. The trial was made by the book, with a bar that had been written down, in pairs, seed by seed, and an "
        "interval. *“It gets 87 % now, and it is lower in every single pair, so it is certain: on pictures as small as these it "
        "does not pay. We take it out again, and I write it into our list of what was refuted.”*"
    ),
    program="digits_cnn",
    fault="data/augmented_validation",
    about="Read 8 x 8 digits with a small convolutional network. While it learns, each picture is moved by up to a pixel.",
)
