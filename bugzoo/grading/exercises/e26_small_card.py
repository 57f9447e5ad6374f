"""It fits on the small card now, and reads less."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It fits on the small card now, and reads less",
    story=(
        "A step needed more memory than the small card has, so a colleague changed the loop until it fitted. The arithmetic "
        "was checked: what is added up is the loss of all images of a batch. It reads 89 % of the digits where it read 94 %. "
        "*“Then that is the price of a small card.”*"
    ),
    program="digits_cnn",
    fault="modes/batch_norm_tiny_batches?rows=1",
    about=(
        "Classify handwritten digits with a small convolutional network and augmentation.\n\n"
        "The images ship with scikit-learn: 1797 of them, 8 x 8 grey values. The last 360 are left alone here."
    ),
)
