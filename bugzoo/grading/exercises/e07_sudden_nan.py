"""The loss falls, then it is infinite once, and nan from there on."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Fine, fine, infinite, nan",
    story=(
        "The loss of this convolutional network has a small term against large logits, as a paper advises. For an epoch it "
        "falls as it should. Then one loss is infinite, and every later one is `nan`. The accuracy ends at 7 %, where 98 % "
        "was expected. The faster the network learns, the sooner it ends. With a tenth of the learning rate the same thing "
        "happens, only later. *“So the rate is still too high. I go on dividing it until the loss survives.”*"
    ),
    program="digits_cnn",
    fault="numerics/exp_overflow?sharpness=20",
    settings={"epochs": 12},
    on_cpu="A GPU draws other random numbers, so the first bad step would be another one there, and the form asks for it.",
    tickets=(
        Ticket(
            "A character model is trained on help texts. Over the first tenth of the run its loss averages {run.first:.2f}, "
            "as a good start does: the version before had {healthy.first:.2f} there. Soon after, it is infinite and then "
            "`nan`. The version before went through all {run.steps} steps.",
            program="mini_transformer",
            fault="numerics/exp_overflow?sharpness=20",
        ),
        Ticket(
            "A network learns to add numbers modulo a prime. Every pair of numbers is in the table once, and the same run "
            "gave an accuracy of {healthy.accuracy:.0f} % in spring. Now its loss falls at first. Then it is infinite, and "
            "`nan` for the rest. The accuracy is {run.accuracy:.0f} %. *“It breaks when the network has become good, and not "
            "when the pairs are odd. Something grows with its success.”*",
            program="modular_addition",
            fault="numerics/exp_overflow?sharpness=20..25",
        ),
        Ticket(
            "A word model completes lines of documentation. In each run the loss falls for a good while, and in each run it "
            "ends as `nan`, after a single infinite value. Models that begin with smaller weights get farther. The release "
            "before ended at {healthy.last:.2f}. *“The gradients explode. I clip them at a tenth of the old limit, and start "
            "again.”*",
            program="word_lines",
            fault="numerics/exp_overflow?sharpness=10",
        ),
    ),
)
