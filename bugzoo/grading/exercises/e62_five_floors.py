"""Five losses that stop far above zero. Which of them has no right to?"""

from bugzoo.grading.kinds import Five, Healthy
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Five losses that stop",
    story=(
        "Groups of a course train the same small network on digits. Each may choose its learning rate, its seed and how soft "
        "the targets are. After all epochs no loss is near zero: the lowest ends at 0.20, the highest at 1.50. *“Yours is the "
        "highest, so yours is wrong,”* says a group to its neighbors. *“We read digits better than you,”* they answer. "
        "*“Perhaps we only count differently.”* Which of the runs is broken, if any?"
    ),
    program="mlp",
    fault="loss/double_softmax",
    lesson=6,
    points=(0.0, 10.0),
    kind=Five(
        settings={"epochs": 12},
        healthy=(
            Healthy(seed=1, trap="traps/smoothed_targets?smoothing=0.1"),
            Healthy(seed=2, trap="traps/smoothed_targets?smoothing=0.2", settings={"learning_rate": 6e-4}),
            Healthy(seed=3, trap="traps/smoothed_targets?smoothing=0.2", settings={"learning_rate": 3.4e-4}),
            Healthy(settings={"learning_rate": 3.4e-4}),
        ),
    ),
    tickets=(
        Ticket(
            story=(
                "A bank reads amounts on checks. Its trainings differ in seed, in dropout and in the targets, and each loss "
                "has come to rest at a height of its own. The heights cannot be compared, as the losses are not the same. The "
                "bank wants to keep all models that were trained as they should be. Which one does it have to train again, if "
                "any?"
            ),
            program="checkpointed_mlp",
            fault="loss/wrong_softmax_dim",
            kind=Five(
                settings={"epochs": 8},
                healthy=(
                    Healthy(seed=1, trap="traps/smoothed_targets?smoothing=0.2"),
                    Healthy(seed=2, settings={"dropout": 0.6}),
                    Healthy(seed=2, trap="traps/smoothed_targets", settings={"dropout": 0.5}),
                    Healthy(seed=3, settings={"dropout": 0.8}),
                ),
            ),
        ),
        Ticket(
            story=(
                "A school has its pupils label digits, and trains on them. The trainings differ in seed, in learning rate and "
                "in how sure the targets are. All losses fall and then stop. *“A loss that stops has a softmax too many. I "
                "have read that,”* says a pupil, and picks the one that stops first. Which run has something wrong, if any?"
            ),
            program="mlp",
            fault="data/label_noise",
            kind=Five(
                settings={"epochs": 12},
                healthy=(
                    Healthy(seed=1, trap="traps/smoothed_targets?smoothing=0.1"),
                    Healthy(seed=2, trap="traps/smoothed_targets?smoothing=0.2"),
                    Healthy(trap="traps/smoothed_targets?smoothing=0.2", settings={"learning_rate": 5e-4}),
                    Healthy(seed=3, settings={"learning_rate": 3.4e-4}),
                ),
            ),
        ),
        Ticket(
            story=(
                "A museum reads the years on its coins with a small convolutional network. The jobs differ in seed, in dropout "
                "and in the targets, and the budget ends after a few epochs. No loss is low by then, and their order is not "
                "that of the accuracies. Before the museum pays for more, it asks which job it should not continue. Which one, "
                "if any?"
            ),
            program="digits_cnn",
            fault="traps/smoothed_targets?smoothing=0.1",
            kind=Five(
                healthy=(
                    Healthy(seed=1, trap="traps/smoothed_targets?smoothing=0.2"),
                    Healthy(seed=2, settings={"dropout": 0.6}),
                    Healthy(seed=3, settings={"dropout": 0.7}),
                    Healthy(settings={"learning_rate": 4e-3, "dropout": 0.5}),
                ),
            ),
        ),
    ),
)
