"""Training was made faster, and the model hardly learns any more."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Faster, but it hardly learns",
    story=(
        "A character model was made faster over the weekend. Now it hardly learns. After 60 steps its accuracy is 18 % at a "
        "loss of 3.3 nats. Friday's version reached 26 % at 2.8. *“No error, no nan, nothing in the logs. Some layers seem to "
        "do nothing.”* (The losses in the plot are far lower, on Friday's version too: the program divides each by the tokens "
        "of a whole update. The losses in nats are validation losses.)"
    ),
    program="amp_transformer",
    fault="precision/no_grad_scaler",
    seeds=(0, 1),
    about=(
        "The character language model of `mini_transformer`, made faster.\n\n"
        "The loss of a batch is divided by the tokens of one whole update, half a million as for the smallest GPT-3.\n"
        "This process holds its share of them."
    ),
)
