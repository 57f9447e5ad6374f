"""The training fits, the evaluation does not."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It dies after the last epoch",
    story=(
        "The training goes through, 216 steps, as it always did, and ends at 95 %. On the full data the script is "
        "then ended by the system, in the few lines that only count what is right. *“Training needs gradients, "
        "and whatever Adam has beside the weights, and that fits. How can counting need more than training?”*"
    ),
    program="mlp",
    fault="memory/evaluation_keeps_graph",
    decoys=("traps/accumulation_on_purpose",),
    about=(
        "Classify 8 x 8 images of handwritten digits with a three-layer perceptron.\n\n"
        "The images ship with scikit-learn: 1797 of them, 64 grey values a picture. The last 360 are left alone here."
    ),
)
