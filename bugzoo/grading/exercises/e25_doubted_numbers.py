"""The numbers of an evaluation are called worthless. Is anything wrong?"""

from bugzoo.grading.kinds import Nothing
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Are these numbers worth anything?",
    story=(
        "A character model has a validation loss of 2.51 nats and an accuracy of 31 %. Tomorrow both numbers go into a paper. "
        "Tonight an author searches the script for `eval()` and does not find it. *“Then we measured the model in train mode. "
        "Measure it again, and you get other numbers. We have to withdraw the table.”* Are the numbers worth anything?"
    ),
    program="mini_transformer",
    fault="traps/eval_without_layers_that_care",
    kind=Nothing(),
    seed=2,  # with it the right test is neither the longest nor the shortest of its form
    tickets=(
        Ticket(
            story=(
                "A clinic has its forecast of diabetes certified. On the validation patients the network explains "
                "{run.metrics[r2]:.2f} of the variance (R²), at a mean squared error of {run.loss:.2f}. The auditor has a list "
                "of calls that every evaluation needs, and one of them does not stand in this script. *“Without it an R² is "
                "void, however good it looks. Repair the script and measure again.”* What do you answer?"
            ),
            program="regression_mlp",
        ),
        Ticket(
            story=(
                "A network learned some digits first, and then the others. At the end it recognizes {run.accuracy:.0f} % of "
                "the new digits, and it still knows a share of {run.metrics[old_accuracy]:.2f} of the old ones. A new "
                "colleague prints `model.training` during the evaluation and reads `True`. Is that so?"
            ),
            program="finetune",
        ),
        Ticket(
            story=(
                "A perceptron reads digits with an accuracy of {run.accuracy:.0f} %. Its training loss ends at "
                "{run.last:.2f}, and its validation loss is {run.loss:.2f}. The consultant who reviews it finds no line that "
                "prepares the model for the validation. *“I added the line and measured again: the same numbers, digit by "
                "digit. So I ask for no money.”* Should you pay for it?"
            ),
            program="mlp",
        ),
    ),
)
