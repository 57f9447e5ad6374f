"""Training became fast, and nothing is learnt any more."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Quick, and hardly learning",
    story=(
        "A character model was made faster over the weekend. Each step takes less time, and the loss has hardly moved since: "
        "the same model learnt well on Friday. *“No error, no nan, nothing in the logs. Some layers just seem asleep.”*"
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
