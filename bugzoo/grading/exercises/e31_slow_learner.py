"""The model learns a little, but its loss ends too high."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="It learns, but not as it should",
    story=(
        "A convolutional network for digits used to reach 94 %. Since the last merge, with which one can compare two heads "
        "on the same features, it ends at 68 %. At the end of the run the loss is 1.5 and still falling, so the reviewer "
        "wrote: *“looks fine, maybe it needs more epochs.”*"
    ),
    program="digits_cnn",
    fault="freezing/frozen_layers",
    tickets=(
        Ticket(
            story=(
                "A supplier delivered a perceptron that reads postal codes. The data sheet gives a validation loss of "
                "{healthy.loss:.2f} and an accuracy of {healthy.accuracy:.0f} %. In your acceptance test the supplier's code "
                "ends at {run.loss:.2f} and {run.accuracy:.0f} %. The training loss ends close to it, at {run.last:.2f}."
            ),
            program="mlp",
            fault="freezing/frozen_layers?keep=2..3",
        ),
        Ticket(
            story=(
                "A hospital predicts how a patient's diabetes develops within a year. On the validation patients the network "
                "explained {healthy.metrics[r2]:.2f} of the variance (R²), and since Monday it explains "
                "{run.metrics[r2]:.2f}. The training loss goes from {run.first:.2f} to {run.last:.2f}. It used to end at "
                "{healthy.last:.2f} on the same table. *“The patients are the same, and the loss falls smoothly. A part of "
                "the network might as well not be there.”*"
            ),
            program="regression_mlp",
            fault="freezing/frozen_layers?keep=2..3",
        ),
        Ticket(
            story=(
                "An intern turned a notebook into a script that trains a character model on the same text, with the same "
                "settings. The notebook reached a validation loss of {healthy.loss:.2f} nats, and her script stays at "
                "{run.loss:.2f}. Its training loss goes from {run.first:.2f} to {run.last:.2f}. *“The curve falls from the "
                "first step on, so the script is right. I drew an unlucky seed.”*"
            ),
            program="mini_transformer",
            fault="freezing/frozen_layers?keep=2..4",
        ),
    ),
)
