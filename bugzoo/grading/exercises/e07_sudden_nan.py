"""One step is fine, the next one is nan."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Fine, fine, fine, nan",
    story=(
        "In the first epoch the loss of this convolutional network falls as it should. Early in the second epoch it becomes "
        "`nan` and stays `nan`. The final accuracy is 7 %, where 98 % was expected. The data is clean and the learning rate is "
        "modest. *“It happens at the same step every time, on every machine. And last week we made this very model safe "
        "against it.”*"
    ),
    program="digits_cnn",
    fault="numerics/log_at_step?step=44&eps=1e-50",
    settings={"epochs": 12},
    tickets=(
        Ticket(
            "A clinic predicts from blood values how a disease goes on. The training loss starts at {run.first:.2f} and falls. "
            "Then it is `nan` until the end, and so is every number of the report. The release before reached an R squared of "
            "{healthy.metrics[r2]:.2f} on the same patients. *“Some patient's record must have a gap. We should search the "
            "table for it.”*",
            program="regression_mlp",
            fault="numerics/log_at_step?step=40..150&eps=0",
        ),
        Ticket(
            "A network knows some digits, and now it learns the others. At first only its new head is trained, and all losses "
            "are numbers. As soon as the other layers are trained as well, the loss becomes `nan` and stays `nan`. The accuracy "
            "ends at {run.accuracy:.0f} %, where {healthy.accuracy:.0f} % is usual. *“So these layers do not stand their "
            "learning rate. Leave them out, and nothing happens.”*",
            program="finetune",
            fault="numerics/log_at_step?step=220..280&eps=0",
        ),
        Ticket(
            "This script can resume from a checkpoint. In the middle of a run its loss becomes `nan`, and its accuracy ends at "
            "{run.accuracy:.0f} %. Its users resumed from a checkpoint that was written long before. The loss became `nan` "
            "again, at the very same step. On another branch the run goes through and ends at {healthy.last:.2f}. *“Then that "
            "checkpoint was damaged already, and we have to start over.”*",
            program="checkpointed_mlp",
            fault="numerics/log_at_step?step=80..150&eps=1e-60",
        ),
    ),
)
