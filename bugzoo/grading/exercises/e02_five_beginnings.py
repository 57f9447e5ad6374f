"""Five beginnings of a training. Which of them will never get anywhere?"""

from bugzoo.grading.model import Exercise, Five, Healthy, Ticket

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
    five=Five(
        settings={"epochs": 1, "learning_rate": 1e-4, "dropout": 0.0},
        healthy=(
            Healthy(seed=1),
            Healthy(seed=2),
            Healthy(settings={"learning_rate": 5e-5}),
            Healthy(trap="traps/log_softmax_first"),
        ),
    ),
    tickets=(),
)
