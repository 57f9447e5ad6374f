"""One step is fine, the next is nan."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Fine, fine, fine, nan",
    story=(
        "One epoch without a sign of trouble: the loss of this convolutional network falls as it should. Early in the second "
        "it is `nan`, and stays `nan`; in the end 7 % of the digits are read, where 98 % were expected. The data are clean, the "
        "learning rate is modest. *“It happens at the same step every time, on every machine. And last week somebody made this "
        "very model safe against it.”*"
    ),
    program="digits_cnn",
    fault="numerics/log_at_step?step=44&eps=1e-50",
    settings={"epochs": 12},
)
