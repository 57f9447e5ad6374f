"""The loss falls at first, then swings up again."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The loss falls, then swings up again",
    story=(
        "The first few dozen steps look promising: the loss falls from 2.2 to 1.0. Then it turns around, swings and climbs to "
        "2.8. When the run is over, the accuracy is 62 %. *“It behaves like a ball without brakes.”*"
    ),
    program="mlp",
    fault="loop/stale_gradients",
)
