"""It learns a little and settles too high."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It learns, but not as it should",
    story=(
        "A convolutional network for digits used to reach 94 %. Since the last merge it ends at 68 %. The loss is still falling "
        "when the run is over, at 1.5, so the reviewer wrote: *“looks fine, maybe just needs more epochs.”*"
    ),
    program="digits_cnn",
    fault="freezing/frozen_layers",
)
