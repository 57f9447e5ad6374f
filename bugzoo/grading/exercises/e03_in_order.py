"""A reviewer wants a result withdrawn because of the order of its data. Is anything wrong?"""

from bugzoo.grading.kinds import Nothing
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="One after the other",
    story=(
        "A perceptron reads digits with an accuracy of 95 % on the validation set. The reviewer of the paper looked into the "
        "code: in the evaluation the model gets all the zeros first, then all the ones, and so on to the last digit. *“No "
        "mail comes in that order. The numbers have to be withdrawn.”* The deadline is tonight. Do they have to?"
    ),
    program="mlp",
    fault="traps/validation_not_shuffled",
    kind=Nothing(),
    tickets=(
        Ticket(
            story=(
                "A post office tests its digit reader before each release. The accuracy is {run.accuracy:.0f} %, with a loss "
                "of {run.loss:.2f}. A new colleague prints the targets while the test runs, and sees the same digit again "
                "and again. *“Each image is judged alone, so the order should not matter. Prove it, and we release.”* Does "
                "the release have to wait?"
            ),
            program="digits_cnn",
        ),
        Ticket(
            story=(
                "A network forecasts the course of diabetes, with an R² of {run.metrics[r2]:.2f} on patients that it has not "
                "seen. In the evaluation the mildest cases come first and the worst ones last. A statistician objects: *“A "
                "batch of only bad cases is no sample. The mean over such batches is biased.”* Is this R² biased?"
            ),
            program="regression_mlp",
        ),
        Ticket(
            story=(
                "A trainer saves a checkpoint every epoch. Its digit reader ends with an accuracy of {run.accuracy:.0f} % on "
                "digits that were left aside, at a loss of {run.loss:.2f}. In the log of the evaluation all zeros come "
                "first, then all ones, and so on. In the training they come mixed. Can the numbers be trusted?"
            ),
            program="checkpointed_mlp",
        ),
    ),
)
