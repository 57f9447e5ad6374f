"""The loss jumps in the first steps and swings around its first value afterwards."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="A wild start",
    story=(
        "A review classifier is trained anew. Over the first tenth of the run its training loss averages 37.4, and guessing "
        "would cost 0.69. Then it comes down to 0.7, where a guess is, and swings there until the end. It did so on both "
        "machines of the group. *“The first steps ruin it, whatever comes later. Clip the gradients, and it cannot jump.”*"
    ),
    program="sequence_classifier",
    fault="optimizer/lr_too_high",
    tickets=(
        Ticket(
            story=(
                "A student rebuilds a digit reader from a paper. Her first losses are far above those of a guess. Then the "
                "loss stays at {run.last:.2f}, and the paper's code ends at {healthy.last:.2f}. The accuracy is "
                "{run.accuracy:.0f} %. *“A bad start can happen. I began again with another seed, and it was the same. My "
                "network must be too small for pictures.”*"
            ),
            program="digits_cnn",
        ),
        Ticket(
            story=(
                "A character model is trained for {run.steps} steps. Over the first tenth of them its loss averages "
                "{run.first:.0f}, and over the last tenth {run.last:.0f}. The version in the archive goes from "
                "{healthy.first:.2f} to {healthy.last:.2f} on the same text. *“It is learning something, or the loss would not "
                "move at all. Let it run for a week.”*"
            ),
            program="mini_transformer",
        ),
        Ticket(
            story=(
                "A network forecasts the course of diabetes. In the first steps its mean squared error averages "
                "{run.first:.0f}. Later it comes down to {run.last:.2f}, where the network before it had {healthy.last:.2f}. It "
                "explains less of the variance: R² is {run.metrics[r2]:.2f} instead of {healthy.metrics[r2]:.2f}. *“A single "
                "patient with extreme values makes the jump. Find him, and leave him out.”*"
            ),
            program="regression_mlp",
        ),
    ),
)
