"""A number in a table that nobody gets again."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Table three",
    story=(
        "A reviewer started the script that belongs to the third table and got another number; the author started it again, and "
        "got yet another. *“The seed is set before anything is drawn. I printed the weights in front of the first step, in each "
        "start, and they are the same to the last digit. So it must be the processor, and there is nothing that I can do.”*"
    ),
    program="regression_mlp",
    fault="reproducibility/one_generator_unseeded",
    decoys=("traps/clipping_bites_rarely",),
)
