"""A reviewer objects to a pull request. Is anything wrong?"""

from bugzoo.grading.kinds import Nothing
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="A reviewer objects",
    story=(
        "A pull request waits for you. The reviewer wrote: *“I have seen this before. It ruins the training, please "
        "repair it.”* The author answered: *“I trained it. Its accuracy is 95 %, as always.”* Who is right? "
        "Look before you change anything."
    ),
    program="mlp",
    fault="traps/log_softmax_first",
    kind=Nothing(),
    tickets=(
        Ticket(
            story=(
                "A code assistant went through every training script of a group and filed a ticket for each finding. This "
                "finding is about the digit classifier: *“High confidence. This mistake costs accuracy on the validation "
                "set.”* The run ends at {run.accuracy:.0f} % on the validation set, and its last training losses average "
                "{run.last:.2f}. You close the ticket, with a repair or with a reason."
            ),
            program="digits_cnn",
        ),
        Ticket(
            story=(
                "A student took over a review classifier. A blog post about such models shows a training loss near zero. "
                "Hers falls from {run.first:.2f} to {run.last:.2f} in {run.steps} steps, and {run.accuracy:.0f} % of the "
                "validation reviews are classified correctly. She read the script and stopped the release: *“A part of the "
                "signal is lost in here. I can point to the place.”* Is she right?"
            ),
            program="sequence_classifier",
        ),
        Ticket(
            story=(
                "A character model has run in production for a year. Its new owner read the code and wrote: *“It looks like "
                "a mistake from the textbook, and I could not measure a difference. Tell me whether it is one.”* The "
                "validation loss is {run.loss:.2f} nats, at an accuracy of {run.accuracy:.0f} %. Next week the team trains "
                "the large one with this code, so it needs your answer first."
            ),
            program="mini_transformer",
        ),
    ),
)
