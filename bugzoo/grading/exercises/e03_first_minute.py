"""It stops in its first minute, on a machine that has nothing to choose from."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It stops in its first minute",
    story=(
        "A regression that everybody in the group has run was tidied up over the weekend: a model, it was said, need not "
        "take any room before it is wanted. Now it stops before its first loss, on a laptop without a graphics card. *“The "
        "message says that something is not where it should be. There is nothing here but the processor! I have written "
        "`.to(device)` behind everything that I could find, and it stops in the same line.”*"
    ),
    program="regression_mlp",
    fault="device/batch_left_on_cpu",
    about="Predict how a disease goes on from ten measurements of a patient: a regression.",
)
