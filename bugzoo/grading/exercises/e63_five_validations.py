"""Five validation accuracies that lie further apart than the losses. Which of them would you not report?"""

from bugzoo.grading.kinds import Five, Healthy
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Five validations",
    story=(
        "A team reads digits with a small convolutional network and has run it with its own seeds, learning rates and shares "
        "of dropout. The loss of every run falls. The accuracies on validation lie between 0.77 and 0.93. *“The low ones "
        "overfit,”* says a colleague. *“I believe the loss of every run,”* says another. *“In one of them I doubt the "
        "measuring.”* Which accuracy do you not report?"
    ),
    program="digits_cnn",
    fault="modes/dropout_in_functional_form",
    lesson=9,
    points=(0.0, 10.0),
    kind=Five(
        settings={"epochs": 3},
        healthy=(
            Healthy(seed=1, settings={"dropout": 0.6}),
            Healthy(seed=2),
            Healthy(trap="traps/validation_not_shuffled", settings={"learning_rate": 3e-3}),
            Healthy(seed=1, trap="traps/smoothed_targets", settings={"learning_rate": 4e-3}),
        ),
    ),
    tickets=(
        Ticket(
            story=(
                "A newspaper sorts letters to the editor by tone. Its trainings differ in seed and learning rate, and their "
                "validation is a little worse than it was last month. *“The models are as good as they were,”* says the "
                "engineer. *“I think one of the jobs asks its model in a wrong way. I could not tell which.”* Which job is it, "
                "if any?"
            ),
            program="sequence_classifier",
            fault="modes/eval_mode_missing",
            kind=Five(
                healthy=(
                    Healthy(seed=1),
                    Healthy(seed=2),
                    Healthy(settings={"learning_rate": 2.5e-3}),
                    Healthy(seed=3, trap="traps/smoothed_targets"),
                ),
            ),
        ),
        Ticket(
            story=(
                "A shop reads the handwritten prices of its suppliers. The trainings differ in seed, in dropout and in "
                "learning rate, and the shop takes the model whose validation is best. Before it throws the others away, it "
                "wants to know whether all of them were measured in the same way. Which one was not, if any?"
            ),
            program="digits_cnn",
            fault="data/augmented_validation",
            kind=Five(
                settings={"epochs": 3},
                healthy=(
                    Healthy(seed=1),
                    Healthy(seed=2, settings={"dropout": 0.6}),
                    Healthy(settings={"learning_rate": 3e-3}),
                    Healthy(seed=3, trap="traps/validation_not_shuffled"),
                ),
            ),
        ),
        Ticket(
            story=(
                "A district trains a small network on the digits of its water meters, with seeds and learning rates of its "
                "own. In a cleanup, one script lost a line that every guide asks for before an evaluation. *“So its validation "
                "is worth nothing, and we have to repeat it,”* says the head of the district. Which run has to be repeated, if "
                "any?"
            ),
            program="mlp",
            fault="traps/eval_without_layers_that_care",
            kind=Five(
                settings={"epochs": 3},
                healthy=(
                    Healthy(seed=1),
                    Healthy(seed=2, trap="traps/validation_not_shuffled"),
                    Healthy(settings={"learning_rate": 6e-4}),
                    Healthy(seed=3, settings={"learning_rate": 2e-3}),
                ),
            ),
        ),
    ),
)
