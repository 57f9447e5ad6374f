"""The loss becomes nan in the first epoch, with another seed at another step."""

from bugzoo.grading.kinds import Decoy
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Another step each time",
    story=(
        "A network that recognizes digits is trained again every night, with a new seed. Some time in the first epoch its "
        "loss becomes `nan` and stays `nan`. With another seed the same happens, at another step. The accuracy ends at 7 %, "
        "where 97 % was usual. The script clips its gradients. Taking the clipping out made no difference. *“A step is too "
        "long now and then. Clip at a tenth of the limit, then it will hold.”*"
    ),
    program="checkpointed_mlp",
    fault="numerics/dark_strip_division",
    kind=Decoy("traps/clipping_bites_rarely"),
    about=(
        "Classify handwritten digits with a perceptron.\n\nWith `stop_after = 3` it ends after three epochs and leaves a "
        "checkpoint. A second start in the same folder resumes from it. The images ship with scikit-learn: 1797 of them, 64 "
        "gray values each. The last 360 are left alone here."
    ),
    tickets=(
        Ticket(
            "A post office reads postcodes with a small network. Until last month its accuracy was {healthy.accuracy:.0f} % "
            "at the end of a run. Now each run is lost in the first epoch: from some step on, every loss is `nan`. The "
            "operator lowered the learning rate, and the run was lost at the same step. *“Then it is not the size of the "
            "step. The step has the same image in it each time.”*",
        ),
        Ticket(
            "A team took over a script that clips its gradients. Hardly any gradient is long enough for that, so they call the "
            "line a leftover. With it and without it, the loss is a number for a while, and `nan` before the first epoch is "
            "over. The accuracy is {run.accuracy:.0f} %, where the old team reported {healthy.accuracy:.0f} %. *“One gradient "
            "was long enough, and after that it was too late.”*",
        ),
        Ticket(
            "A training job runs on several machines, each with a seed of its own. On each of them the loss becomes `nan` in "
            "the first epoch, but not at the same step. The last release went through all {run.steps} steps, and its loss "
            "ended at {healthy.last:.2f}.",
        ),
    ),
)
