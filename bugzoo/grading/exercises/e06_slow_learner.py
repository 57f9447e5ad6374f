"""It learns a little and settles too high."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It learns, but not as it should",
    story=(
        "A convolutional network for digits used to reach 97 % in a minute. Since the last merge it creeps to 85 % and stays "
        "there. The loss curve is smooth and falling, so the reviewer wrote: *“looks fine, maybe just needs more epochs.”*"
    ),
    program="digits_cnn",
    fault="freezing/frozen_layers",
)
