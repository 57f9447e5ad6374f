"""The loss comes in waves."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Waves",
    story=(
        "A network with a checkpoint at every epoch ends at 94 %, and it had 97 %. Its loss goes up and down as if somebody "
        "breathed on it, again and again over the whole training. *“The data are shuffled, so I blame the data.”*"
    ),
    program="checkpointed_mlp",
    fault="loop/scheduler_per_microbatch",
)
