"""One step is fine, the next one is nan."""

from bugzoo.grading.model import Exercise

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
)
