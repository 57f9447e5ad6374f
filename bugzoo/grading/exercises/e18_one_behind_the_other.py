"""The loss begins far above its old value, and then it swings."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="One behind the other",
    story="A story.",
    program="mlp",
    fault="loss/sum_reduction",
    second="optimizer/lr_too_high",
    points=(10.0, 10.0),
)
