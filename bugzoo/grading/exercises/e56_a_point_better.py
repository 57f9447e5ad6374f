"""The same weights, two reports."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A point better, from nothing",
    story=(
        "A branch of the repository is compared with the main one. All 216 losses are the same, to the last "
        "digit, and so are the weights. The branch reports 98 %, the main one 97 %. It is to be merged today. "
        "*“It is only a point. But why would I not take it?”*"
    ),
    program="checkpointed_mlp",
    fault="metrics/mean_of_batch_means",
)
