"""Five losses that stay where they began. Which of them will still be there next week?"""

from bugzoo.grading.kinds import Five, Healthy
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Five flat losses",
    story=(
        "Students train the same small network on digits for one epoch, with seeds and learning rates of their own. All five "
        "losses stay near ln 10 = 2.30, the loss of a guess. *“Mine has the lowest rate of all, so it is the one that does not "
        "learn,”* says one of them. *“Give it time,”* says the next. *“At least one of us has changed more than the rate.”* "
        "Which run is not worth a second epoch?"
    ),
    program="mlp",
    fault="freezing/optimizer_on_old_model",
    lesson=1,
    points=(0.0, 10.0),
    kind=Five(
        settings={"epochs": 1, "learning_rate": 6e-5},
        healthy=(
            Healthy(seed=1),
            Healthy(seed=2),
            Healthy(settings={"learning_rate": 3e-5}),
            Healthy(trap="traps/validation_not_shuffled", settings={"learning_rate": 1e-4}),
        ),
    ),
    tickets=(
        Ticket(
            story=(
                "An archive sorts its film reviews into good and bad. Several jobs trained for an epoch, with seeds and "
                "learning rates of their own, and each loss is still that of a coin. The archive expected no more after an "
                "epoch. Before the jobs get a whole night, it wants to know whether one of them would waste it. Which one?"
            ),
            program="sentiment_lstm",
            fault="recurrent/padding_read_as_text",
            kind=Five(
                settings={"epochs": 1, "learning_rate": 5e-4},
                healthy=(
                    Healthy(seed=1),
                    Healthy(seed=2),
                    Healthy(settings={"learning_rate": 3e-4}),
                    Healthy(seed=3, settings={"learning_rate": 1e-3}),
                ),
            ),
        ),
        Ticket(
            story=(
                "A post office reads digits on parcels. Its trainings get a new learning rate each, and none has moved after "
                "the first epoch. *“I would not touch the rate,”* says a colleague. *“In one of them the model gets other "
                "numbers to see than in the others. I would look at what goes in.”* Which run is it, and is the colleague "
                "right?"
            ),
            program="checkpointed_mlp",
            fault="data/double_scaling",
            kind=Five(
                settings={"epochs": 1, "learning_rate": 5e-5},
                healthy=(
                    Healthy(seed=1),
                    Healthy(seed=2),
                    Healthy(trap="traps/log_softmax_first"),
                    Healthy(settings={"learning_rate": 1e-4}),
                ),
            ),
        ),
        Ticket(
            story=(
                "A library scans old page numbers and trains a reader for them. The jobs differ in seed and learning rate, and "
                "one has a line more. After the first look at all pictures no loss has left that of a guess. *“The line stops "
                "the gradient, that is why it does not fall,”* says its author. *“I will take it out.”* Which run is broken, "
                "if any?"
            ),
            program="image_pipeline",
            fault="traps/clipping_bites_rarely",
            kind=Five(
                settings={"epochs": 1, "learning_rate": 2e-4},
                healthy=(
                    Healthy(seed=1),
                    Healthy(seed=2),
                    Healthy(settings={"learning_rate": 1e-4}),
                    Healthy(seed=3, settings={"learning_rate": 3e-4}),
                ),
            ),
        ),
    ),
)
