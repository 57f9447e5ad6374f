"""The loss begins far above its old value and ends far above it, and a lower learning rate helps a little with both."""

from bugzoo.grading.kinds import Two
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="One behind the other",
    story=(
        "A review classifier was tidied up last week, in two places. Since then its training loss jumps. Over the first "
        "tenth of the run it averages 197, where it used to average 0.69. It ends at 11.2, where it used to end at 0.43. The "
        "validation accuracy is 52 %, after 76 %. *“I took back one of the two. Now the curve begins lower and ends lower, "
        "but it is not right yet. So it was not that one.”*"
    ),
    program="sequence_classifier",
    fault="loss/wrong_axis_reduction",
    kind=Two("optimizer/rmsprop_momentum"),
    points=(10.0, 10.0),
    tickets=(
        Ticket(
            "A parcel service reads handwritten digits with a small network. After a merge its training loss goes from "
            "{run.first:.1f} to {run.last:.1f}, where it used to go from {healthy.first:.2f} to {healthy.last:.2f}. The "
            "validation loss is only {run.loss:.2f}, and the accuracy is {run.accuracy:.0f} % instead of "
            "{healthy.accuracy:.0f} %. *“At such a loss the gradients explode, and the network is broken after its first step. "
            "Clip them.”*",
            program="digits_cnn",
            fault="loss/sum_reduction",
            kind=Two("optimizer/lr_too_low"),
        ),
        Ticket(
            "A nightly job trains a digit reader and writes checkpoints. At first its training loss averages "
            "{run.first:.0f}, where it averaged {healthy.first:.2f} on Monday. While the schedule lowers the learning rate, "
            "the loss comes down to {run.last:.1f}, and on Monday it came down to {healthy.last:.2f}. The accuracy is "
            "{run.accuracy:.0f} % instead of {healthy.accuracy:.0f} %.",
            program="checkpointed_mlp",
            fault="loss/sum_reduction",
            kind=Two("optimizer/lr_too_high"),
        ),
        Ticket(
            "A convolutional network is trained on handwritten digits by a new colleague. Her training loss averages "
            "{run.first:.0f} at first and ends at {run.last:.1f}. The published script goes from {healthy.first:.2f} to "
            "{healthy.last:.2f}. The validation accuracy is {run.accuracy:.0f} %, and the published one is "
            "{healthy.accuracy:.0f} %. *“Her first loss, before any step, is already too high. And what happens in the next "
            "steps is another thing.”*",
            program="digits_cnn",
            fault="loss/sum_reduction",
            kind=Two("optimizer/lr_too_high"),
        ),
    ),
)
