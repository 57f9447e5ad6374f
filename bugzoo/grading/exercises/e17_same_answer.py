"""A regression whose answers all are nearly the same."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Everybody gets the same answer",
    story=(
        "A small network predicts from some measurements how far diabetes has gone on after a year. Last week's version reached "
        "an r2 of 0.48 between patients. Since the data loading was tidied up it is 0.02: everybody gets nearly "
        "the mean. The training loss, 1.2 in the first step, stays around 1.0, where it used to come down to 0.44. "
        "*“Nothing raised. I tried a higher learning rate, and it is as flat as before.”*"
    ),
    program="regression_mlp",
    fault="loss/target_column_broadcast",
)
