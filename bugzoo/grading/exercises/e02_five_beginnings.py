"""Five beginnings of a training. Which of them will never get anywhere?"""

from bugzoo.grading.kinds import Five, Healthy
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Five beginnings",
    story=(
        "A student starts the same digit classifier five times before the weekend, with other seeds, other learning rates, and "
        "a line from a blog post. On Friday evening all five losses look flat. *“One of them is a waste of electricity,”* says "
        "the administrator of the cluster. *“Tell me which one, and I stop it. If you stop a good one, you start it again "
        "yourself, on Monday.”* You get the recordings of the first epoch. Which run do you stop?"
    ),
    program="digits_cnn",
    fault="graph/loss_rebuilt_from_item",
    points=(0.0, 10.0),
    kind=Five(
        settings={"epochs": 1, "learning_rate": 1e-4, "dropout": 0.0},
        healthy=(
            Healthy(seed=1),
            Healthy(seed=2),
            Healthy(settings={"learning_rate": 5e-5}),
            Healthy(trap="traps/log_softmax_first"),
        ),
    ),
    tickets=(
        Ticket(
            story=(
                "The students of a course train a perceptron on digits. Each of them picks a seed and a learning rate. All "
                "losses fall. *“They all learn, so they are all fine,”* says one student. *“Mine falls too, and I do not trust "
                "it,”* says another. *“I pasted a line from a chat into it, and forgot which.”* Which run should be done again?"
            ),
            program="mlp",
            fault="graph/detached_activation",
            kind=Five(
                healthy=(
                    Healthy(seed=1),
                    Healthy(seed=2),
                    Healthy(settings={"learning_rate": 4e-4}),
                    Healthy(trap="traps/clipping_bites_rarely"),
                ),
            ),
        ),
        Ticket(
            story=(
                "A clinic trains a small network that predicts the progress of diabetes. The jobs differ in seed and learning "
                "rate, and one was started from an older branch of the code. All losses fall, some faster than others. "
                "*“Before we publish the mean of them,”* says the statistician, *“tell me which job I should leave out.”* "
                "Which one is it?"
            ),
            program="regression_mlp",
            fault="graph/numpy_round_trip",
            kind=Five(
                healthy=(
                    Healthy(seed=1),
                    Healthy(seed=2),
                    Healthy(settings={"learning_rate": 5e-4}),
                    Healthy(trap="traps/eval_without_layers_that_care"),
                ),
            ),
        ),
        Ticket(
            story=(
                "A network has learned some digits, and now it learns the others. Several colleagues run it, with their own "
                "seeds and learning rates. One of them has edited the script. *“Since my edit some numbers do not move any "
                "more,”* she says. *“I think I broke it, and now the others copy my script.”* Which run is broken, if any?"
            ),
            program="finetune",
            fault="traps/frozen_on_purpose",
            kind=Five(
                healthy=(
                    Healthy(seed=1),
                    Healthy(seed=2),
                    Healthy(settings={"learning_rate": 2.5e-3}),
                    Healthy(seed=3, settings={"learning_rate": 1e-2}),
                ),
            ),
        ),
    ),
)
