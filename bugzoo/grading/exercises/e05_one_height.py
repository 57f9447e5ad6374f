"""Both curves lie at one height, far too high."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Two curves at one height",
    story=(
        "A network learns to add two numbers on a clock: it sees most of the pairs, and is tested on the rest. Its loss "
        "ends at 3.47 on the pairs that it sees and at 3.56 on the rest, where the loss of a guess is ln 53 = 3.97. Last "
        "spring they came down to 0.11 and 0.16. *“Both lie at one height, so it does not overfit: it cannot learn what it "
        "sees. A smaller learning rate does not help, and neither does a larger one.”*"
    ),
    program="modular_addition",
    fault="fit/width_by_rule",
    about=(
        "Add two numbers modulo 53, as on a clock with 53 hours: a perceptron on two embeddings. It is trained on some of "
        "all pairs, with weight decay, and evaluated on others."
    ),
    tickets=(
        Ticket(
            "A student repeats a paper in which a network learns to calculate with the hours of a clock. Her training loss "
            "ends at {run.last:.2f} and her validation loss at {run.loss:.2f}, with an accuracy of {run.accuracy:.0f} %. The "
            "paper's code ends at {healthy.last:.2f} and {healthy.loss:.2f}, with {healthy.accuracy:.0f} %. *“It is the "
            "weight decay. It holds all weights so small that nothing can be learned.”*",
            fault="fit/width_by_rule?power=0.2..0.31",
        ),
        Ticket(
            "A student repeats a published experiment: digits are learned in turn, some before the others. After {run.steps} "
            "steps the training loss is {run.last:.2f} and the validation loss {run.loss:.2f}. The accuracy is "
            "{run.accuracy:.0f} %, where the authors' code reaches {healthy.accuracy:.0f} % in as many steps. *“Some networks "
            "take a long time, and then their accuracy jumps. Leave it running overnight.”*",
            program="finetune",
            fault="fit/capacity_too_small",
        ),
        Ticket(
            "A post office adds a second group of digits to its sorting machine. The training loss on these ends at "
            "{run.last:.2f} and the validation loss at {run.loss:.2f}. The supplier's own copy reaches {healthy.last:.2f} "
            "and {healthy.loss:.2f} on the same images.",
            program="finetune",
            fault="fit/capacity_too_small",
        ),
    ),
)
