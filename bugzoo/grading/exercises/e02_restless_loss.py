"""The loss falls at first and then wanders."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A start like any other, and then it wanders",
    story=(
        "The first few dozen steps look promising: the loss falls from 2.2 to 1.0. Then it turns round, swings and climbs to "
        "2.8, and when the run is over 62 % of the digits are read. *“It behaves like a ball that nobody brakes.”*"
    ),
    program="mlp",
    fault="loop/stale_gradients",
)
