"""Training was made faster, and the model hardly learns any more."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="Faster, but it hardly learns",
    story=(
        "A character model was made faster over the weekend. Now it hardly learns. After 60 steps its accuracy is 17 % at a "
        "loss of 3.3 nats. Friday's version reached 29 % at 2.7. *“No error, no nan, nothing in the logs. Some layers seem "
        "to do nothing.”* (These are validation losses. The plot shows training losses in another unit, for Friday's "
        "version, too.)"
    ),
    program="amp_transformer",
    fault="precision/no_grad_scaler",
    seed=2,  # the further tickets have no other program, and each has the cases 0 and 4
    seeds=(0, 1),
    on_cpu="On a GPU the numbers would not be those of the ticket.",
    about=(
        "The character language model of `mini_transformer`, made faster.\n\n"
        "The loss of a batch is divided by the tokens of one whole update, half a million as for the smallest GPT-3.\n"
        "This process holds its share of them."
    ),
    tickets=(
        Ticket(
            story=(
                "A contractor was paid to make a character model cheaper to train. The contract asks for a validation loss of "
                "{healthy.loss:.2f} nats after {run.steps} steps, as before. The delivered version ends at {run.loss:.2f}. "
                "*“Nothing crashes, and the loss does fall at first. Your text must have changed.”* (In the plot, the loss of "
                "a batch is divided by the tokens of a whole update. It is tiny there, for either version.)"
            ),
        ),
        Ticket(
            story=(
                "A research group tidied its code for publication. The draft of the paper says that {healthy.accuracy:.0f} % "
                "of the characters are predicted correctly, and the tidy version reaches {run.accuracy:.0f} %. (The plot "
                "shows losses over the tokens of a whole update. Read the validation loss in the numbers instead.)"
            ),
        ),
        Ticket(
            story=(
                "The nightly benchmark of a character model is red. Its validation loss is {run.loss:.2f} nats, and yesterday "
                "it was {healthy.loss:.2f}. The commits in between only save time. The engineer on duty wants to move the "
                "limit: *“A little accuracy is the price of speed. Give it more steps, and it will arrive.”* (Do not compare "
                "with the plot: it shows the loss of a batch over the tokens of a whole update.)"
            ),
        ),
    ),
)
