"""Nothing changed but the memory."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The same numbers, and a machine that swaps",
    story=(
        "Since a colleague tidied up the training of the digit reader, every loss, every gradient and the result "
        "are what they were, to the last digit: 94 %. Only the workstation begins to swap when the batches are "
        "made larger, and it did not before. *“A batch is a batch. If the numbers are the same, the work is the "
        "same.”*"
    ),
    program="digits_cnn",
    fault="memory/retain_graph_left_on",
    about=(
        "Classify handwritten digits with a small convolutional network: BatchNorm, Dropout and augmentation.\n\n"
        "The images ship with scikit-learn: 1797 of them, 8 x 8 grey values. The last 360 are not used here."
    ),
)
