"""The same input gets another answer each time."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Never the same score",
    story=(
        "A film portal rates reviews with an LSTM. A user opens the same review again and again, and each time it has another "
        "score. The validation accuracy is 78 %, as in the release before, and the validation loss is 0.474 instead of 0.463. "
        "*“I call `eval()` first, and I checked that it arrives. So it cannot be the model. A computer does not always add in "
        "the same order, and these must be rounding errors.”*"
    ),
    program="sentiment_lstm",
    fault="modes/dropout_in_functional_form",
    seeds=(0, 1),
    tickets=(
        Ticket(
            story=(
                "A court wants to know why a platform hid a certain review. The platform loads last year's weights and "
                "repeats the evaluation: another score for this review. The weights file has the right checksum. On the "
                "validation reviews the model has an accuracy of {run.accuracy:.0f} % and a loss of {run.loss:.2f}, and no "
                "log shows anything odd."
            ),
            program="sequence_classifier",
        ),
        Ticket(
            story=(
                "A plagiarism checker asks a character model how likely a text is. It writes nothing, it only reads. But when "
                "the same text is checked again, its probability has changed. The validation loss is {run.loss:.2f} nats, and "
                "the paper behind it says {healthy.loss:.2f}. *“Such models sample, and sampling is random. Always take the "
                "most likely character, and the numbers stay the same.”*"
            ),
            program="sampler",
        ),
        Ticket(
            story=(
                "Before a release, the accuracy of a digit reader has to be confirmed from its saved weights. The log of the "
                "run says {run.accuracy:.0f} %, and every confirmation says another number. The release before has "
                "{healthy.accuracy:.0f} %, and its losses were exactly the same, step by step. *“The images are the same, "
                "and so are the weights. Something in the model draws a number.”*"
            ),
            program="digits_cnn",
        ),
    ),
)
