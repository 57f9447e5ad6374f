"""Every loss is nan, from the first."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Nan from the start",
    story=(
        "A network is to forecast the course of diabetes from a patient's readings. The clinic has new instruments, which "
        "count from another zero point, and 20,000 is added to each reading. Every loss of the run is `nan`, from the first. "
        "The table has no missing value, and in no column are all values the same. The learning rate makes no difference. "
        "Last year's script reached an R² of 0.484 on these patients."
    ),
    program="regression_mlp",
    fault="numerics/variance_cancellation",
    tickets=(
        Ticket(
            "A laboratory has new instruments. Their readings count from another zero point, which does not matter to a "
            "model that looks at differences. With the old readings its mean squared error was {healthy.loss:.2f}. With the "
            "new ones all {run.steps} losses are `nan`. *“A model that looks at differences cannot see the zero point. So "
            "the numbers go bad before they reach it.”*",
            program="regression_mlp",
            fault="numerics/variance_cancellation?offset=25000..40000",
        ),
        Ticket(
            "A pair of scripts trains the same forecast on the same table. One ends with a loss of {healthy.last:.2f}. The "
            "other, which a colleague made shorter, gives `nan` at every step. They agree on every weight before the first step. "
            "*“Then the weights are right, and the gradient must explode in the first step. Clip it.”*",
            program="regression_mlp",
            fault="numerics/variance_cancellation?offset=50000..60000",
        ),
        Ticket(
            "A forecast of diabetes is moved from a notebook into a pipeline. In the notebook, R² was "
            "{healthy.metrics[r2]:.2f}. In the pipeline the first loss is `nan`, and so is the last. The table is "
            "the same file, and a check for missing values passes. *“Bad initial weights. I will try seeds until one works.”*",
            program="regression_mlp",
            fault="numerics/variance_cancellation?offset=16000..20000",
        ),
    ),
)
