"""A run that ends behind its first step."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It ends behind its first step",
    story=(
        "A network that adds numbers modulo a prime gave the right sum of nearly every pair that it had never seen. Then "
        "a colleague who wanted all numbers in it a little smaller added some lines, and it ends with an error behind its "
        "very first step. *“The message speaks of leaves. I have no tree. The optimiser does exactly the same, I read its "
        "code, and nobody stops the optimiser.”*\n\n"
        "When it runs again, look at what it gives. The same evening has spoilt another thing, of which no message "
        "speaks: it is repaired when it knows the pairs that it has never seen, as it did before. The diagnosis and the "
        "hints are about the message."
    ),
    program="modular_addition",
    fault="graph/leaf_changed_in_place",
    beside=("fit/no_regularisation",),
    decoys=("traps/eval_without_layers_that_care",),
    about=(
        "Add two numbers modulo 53: a perceptron on two embeddings.\n\n"
        "Half of the pairs are trained on; of the others some are there to see whether the rule was found."
    ),
)
