"""Both curves lie at one height, far too high."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Two curves at one height",
    story=(
        "A network learns to add two numbers on a clock: it trains on most of the pairs, and is tested on the rest. *“Both "
        "losses lie at one height, so it does not overfit. But both stay far too high, and the run ends there. A smaller rate "
        "does not help, and neither does a larger one. I would ask for more data, but a clock has no more pairs.”*"
    ),
    program="modular_addition",
    fault="fit/capacity_too_small",
    about=(
        "Add two numbers modulo 53, as on a clock with 53 hours: a perceptron on two embeddings. It is trained on some of "
        "all pairs, with weight decay, and evaluated on others."
    ),
    tickets=(
        Ticket(
            "A network learns some of the digits first, and then gets a new head and learns the others. At the end its accuracy "
            "is {run.accuracy:.0f} % on the new digits, and the share of old digits that it still knows is "
            "{run.metrics[old_accuracy]:.2f}. Last month's version reached {healthy.accuracy:.0f} % and "
            "{healthy.metrics[old_accuracy]:.2f}. The training loss ends at {run.last:.2f}, the validation loss at "
            "{run.loss:.2f}. *“The new digits push the old ones out of its memory. We should keep its first layers frozen for "
            "longer.”*",
            program="finetune",
        ),
        Ticket(
            "A student repeats a published experiment: digits are learned in turn, some before the others. After {run.steps} "
            "steps the training loss is {run.last:.2f} and the validation loss {run.loss:.2f}. The accuracy is "
            "{run.accuracy:.0f} %, where the authors' code reaches {healthy.accuracy:.0f} % in as many steps. *“Some networks "
            "take a long time, and then their accuracy jumps. Leave it running overnight.”*",
            program="finetune",
        ),
        Ticket(
            "A post office adds a second group of digits to its sorting machine. The training loss on these ends at "
            "{run.last:.2f} and the validation loss at {run.loss:.2f}. The supplier's own copy reaches {healthy.last:.2f} and "
            "{healthy.loss:.2f} on the same images. *“New images are no worse than those that it was trained on, so the program "
            "is fine. The clerks must have typed in many digits carelessly.”*",
            program="finetune",
        ),
    ),
)
