"""Every loss is lost, from the first step on."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Nothing but lost numbers",
    story=(
        "The table of patients comes from a new source, which writes its readings its own way. The script that "
        "predicts the course of a disease was adapted, and since then not one loss is a number, from the first "
        "step to the last: r2 nan, where it used to be 0.48. *“I looked into the file. Every single entry is a "
        "number.”*"
    ),
    program="regression_mlp",
    fault="numerics/variance_cancellation",
)
