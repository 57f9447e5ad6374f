"""The loss begins at many times its old value, and the accuracy is the old one."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="A loss of another size",
    story=(
        "A perceptron learns handwritten digits. Since last week, digits that are hard to read may be left out of its loss. So "
        "far, none is left out. But the training loss goes from 70.5 in the first tenth of the run to 5.54 in the last, where "
        "it used to go from 2.20 to 0.17. The validation accuracy is 95 %, as before. *“The accuracy is the same, so the loss "
        "is only counted in another unit. I would plot it on a logarithmic axis.”*"
    ),
    program="mlp",
    fault="loss/mask_broadcast",
    tickets=(
        Ticket(
            story=(
                "A parcel service trains its digit reader every night, and a monitor sends an alarm when the training "
                "diverges. Since Tuesday it sends one each night: the training loss ends at {run.last:.1f}, after "
                "{healthy.last:.2f} on Monday. The curve falls all the same. The validation accuracy was "
                "{healthy.accuracy:.0f} %, and now it is {run.accuracy:.0f} %. *“It falls, so the direction is right. The "
                "steps are too large for the last bit. With a lower learning rate it would arrive where it was.”*"
            ),
            program="digits_cnn",
        ),
        Ticket(
            story=(
                "The training loss of this character model ends at {run.last:.0f}, and its validation loss is {run.loss:.2f} "
                "nats. The team has never seen such a gap: the published code ends at {healthy.last:.2f} in training."
            ),
            program="mini_transformer",
        ),
        Ticket(
            story=(
                "After a merge, the training loss of a review classifier goes from {run.first:.1f} to {run.last:.1f}. "
                "Before, it went from {healthy.first:.2f} to {healthy.last:.2f}. In the new run nearly every gradient is "
                "clipped, and in the old one hardly any was. The validation loss is {run.loss:.2f}, close to the "
                "{healthy.loss:.2f} of the old version."
            ),
            program="sentiment_lstm",
        ),
    ),
)
