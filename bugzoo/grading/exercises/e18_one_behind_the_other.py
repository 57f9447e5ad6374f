"""The loss begins far above its old value and ends far above it, and a lower learning rate helps a little with both."""

from bugzoo.grading.kinds import Two
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="One behind the other",
    story=(
        "A perceptron learns handwritten digits. Its script was tidied up last week. Since then the training loss jumps. Over "
        "the first tenth of the run it averages 1455, where it used to average 2.20. It ends at 74.5, where it used to end at "
        "0.17. The validation accuracy is 13 %, after 95 %. *“I lowered the learning rate. Now the curve begins lower and ends "
        "lower, but neither is right. I would lower it again.”*"
    ),
    program="mlp",
    fault="loss/sum_reduction",
    kind=Two("optimizer/lr_too_high"),
    points=(10.0, 10.0),
    tickets=(
        Ticket(
            "A parcel service reads handwritten digits with a small network. After a merge its training loss goes from "
            "{run.first:.1f} to {run.last:.1f}, where it used to go from {healthy.first:.2f} to {healthy.last:.2f}. The "
            "validation loss is only {run.loss:.2f}, and the accuracy is {run.accuracy:.0f} % instead of "
            "{healthy.accuracy:.0f} %. *“At such a loss the gradients explode, and the network is broken after its first step. "
            "Clip them.”*",
            program="digits_cnn",
            kind=Two("optimizer/lr_too_low"),
        ),
        Ticket(
            "A nightly job trains a digit reader and writes checkpoints. At first its training loss averages {run.first:.0f}, "
            "where it averaged {healthy.first:.2f} on Monday. While the schedule lowers the learning rate, the loss comes down "
            "to {run.last:.1f}, and on Monday it came down to {healthy.last:.2f}. The accuracy is {run.accuracy:.0f} % instead "
            "of {healthy.accuracy:.0f} %. *“It comes down as soon as the schedule acts. Train longer, and it arrives.”*",
            program="checkpointed_mlp",
        ),
        Ticket(
            "A convolutional network is trained on handwritten digits by a new colleague. Her training loss averages "
            "{run.first:.0f} at first and ends at {run.last:.1f}. The published script goes from {healthy.first:.2f} to "
            "{healthy.last:.2f}. The validation accuracy is {run.accuracy:.0f} %, and the published one is "
            "{healthy.accuracy:.0f} %. *“Such a start means that the layers begin with numbers that are far too large.”*",
            program="digits_cnn",
        ),
    ),
)
