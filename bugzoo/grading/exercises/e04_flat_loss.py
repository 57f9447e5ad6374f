"""The loss plateaus far above zero."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="The loss that will not go lower",
    story=(
        "A colleague trains a small perceptron on handwritten digits. Its accuracy is 93 %, so the team did not worry. But the "
        "training loss creeps from 2.3 to 1.55, slower and slower. Last week's version reached 0.17. *“It looks as if there "
        "were a floor.”*"
    ),
    program="mlp",
    fault="loss/double_softmax",
    tickets=(
        Ticket(
            "A bank reads the digits on checks with a convolutional network. The training loss creeps down to {run.last:.2f}, "
            "where the release before reached {healthy.last:.2f}. The validation loss is {run.loss:.2f}, far below the training "
            "loss. *“Dropout makes the training harder than the validation, so this gap is normal. We only have to train for "
            "longer.”*",
            program="digits_cnn",
        ),
        Ticket(
            "A model sorts film reviews into praise and criticism. Editors read those reviews that it is unsure about, and "
            "these have become rare. Its accuracy is {run.accuracy:.0f} %, and the release before had {healthy.accuracy:.0f} "
            "%. But the validation loss rose from {healthy.loss:.2f} to {run.loss:.2f}, and the training loss ends at "
            "{run.last:.2f} instead of {healthy.last:.2f}.",
            program="sentiment_lstm",
        ),
        Ticket(
            "A small language model learns Python's help texts, character by character. Its training loss stops at "
            "{run.last:.2f} almost at once. An older copy of the code ends at {healthy.last:.2f}. The validation loss is "
            "higher still, {run.loss:.1f}, and the accuracy is {run.accuracy:.0f} %. *“Another seed stops at nearly the same "
            "height. So there is a floor, and not a bad start.”*",
            program="mini_transformer",
        ),
    ),
)
