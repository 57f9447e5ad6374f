"""Two halves of a training that do not make a whole."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Two nights instead of one",
    story=(
        "The machine is free at night only, so a training is ended after the first night and goes on in the second. *“Nothing "
        "jumps. The loss goes on where it was, the accuracy at the end is fine, and I would not have noticed: but somebody let "
        "it run through in one go, with the same seed, and from some step of the second night on his losses are not mine.”*"
    ),
    program="checkpointed_mlp",
    fault="resume/scheduler_restarted",
    decoys=("traps/log_softmax_first",),
)
