"""The loss falls at first and then wanders."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A start like any other, and then it wanders",
    story=(
        "The first few dozen steps look promising. Then the loss turns round, swings and climbs. With a learning rate ten "
        "times smaller it does the same, only later: *“it behaves like a ball that nobody brakes.”*"
    ),
    program="mlp",
    fault="loop/stale_gradients",
)
