"""Training was made faster, and hardly anything is learnt any more."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Quick, and hardly learning",
    story=(
        "A character model was made faster over the weekend. Now it hardly learns: when its 60 steps are over, it guesses 18 % "
        "of the characters at a loss of 3.3 nats, where Friday's version guessed 26 % at 2.8. *“No error, no nan, nothing in the "
        "logs. Some layers just seem asleep.”* (The losses in the plot are far below these, on Friday's version too: the program "
        "divides each by the tokens of a whole update. The losses in nats are the validation's.)"
    ),
    program="amp_transformer",
    fault="precision/no_grad_scaler",
    seeds=(0, 1),
    about=(
        "The character language model of `mini_transformer`, as it was made faster.\n\n"
        "The loss of a batch is divided by the tokens of one whole update, half a million as for the smallest GPT-3, of which\n"
        "this process holds its share."
    ),
)
