"""The run stops at its first batch, and the line that raised the error looks right."""

from bugzoo.grading.kinds import Crash
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="The first batch stops",
    story=(
        "A hospital predicts how a patient's diabetes develops within a year. On the validation patients the network "
        "explained 0.48 of the variance (R²). Since a colleague tidied the script, it stops at the first batch: two matrices "
        "cannot be multiplied, 16x32 and 16x32. *“They are equal, so how can they not fit? I read the line in the traceback "
        "again and again, and nothing in it can be wrong. It must be the new PyTorch.”*"
    ),
    program="regression_mlp",
    fault="shape/shape_mismatch_deep",
    kind=Crash(),
    about=(
        "Predict how far diabetes has gone on after a year, from ten measurements of a patient, with a small perceptron.\n\n"
        "The table ships with scikit-learn: 442 patients, age, sex, body mass index, blood pressure and six blood values each.\n"
        "The last 88 are left alone here. Inputs and targets are brought to mean 0 and deviation 1 by what the training rows say."
    ),
    tickets=(
        Ticket(
            "A post office fine-tunes a network on the digits of a new scanner. The release before had an accuracy of "
            "{healthy.accuracy:.0f} %. Since the network got its new sizes, the run stops at the first batch. *“The traceback "
            "ends in a short line of the forward pass. No size stands in it that I could change, so it must be the data.”*",
            program="finetune",
        ),
        Ticket(
            "A character model learns Python's help texts. Until Friday it ended at a validation loss of {healthy.loss:.2f} "
            "nats after {healthy.steps} steps. Then a trainee saved memory, and now the run stops in the backward pass. *“I "
            "printed the logits and the loss right before the error. Both are fine, so the model is fine, too.”*",
            program="mini_transformer",
            fault="graph/inplace_activation",
        ),
        Ticket(
            "A group studies how a network learns to add numbers modulo a prime. Its validation loss ended at "
            "{healthy.loss:.2f} after {healthy.steps} steps. A student made the network narrower, and the first batch stops. "
            "*“I changed the definition, and the error is in the forward pass. So my change cannot be the reason.”*",
            program="modular_addition",
        ),
    ),
)
