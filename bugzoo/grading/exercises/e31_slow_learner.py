"""The model learns a little, but its loss ends too high."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It learns, but not as it should",
    story=(
        "A convolutional network for digits used to reach 94 %. Since the last merge it ends at 68 %. At the end of the run the "
        "loss is 1.5 and still falling, so the reviewer wrote: *“looks fine, maybe it needs more epochs.”*"
    ),
    program="digits_cnn",
    fault="freezing/frozen_layers",
)
