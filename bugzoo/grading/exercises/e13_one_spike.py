"""The loss shoots up once, and comes down again."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="One spike, and it was never as good again",
    story=(
        "A perceptron on handwritten digits. The loss falls from 2.3 as it should; then, in one step, it leaps up, and "
        "comes down again. *“It healed, so I let it be. But it ends at 92 % of the digits and last week's version at 95 %, and "
        "whoever runs it sees the spike, at the same step each time.”*"
    ),
    program="mlp",
    fault="data/corrupt_batch",
)
