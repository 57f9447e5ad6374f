"""A message about a size, from a place where nobody chose one."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A size that nobody gave them",
    story=(
        "The reader of digits does not start any more: *“Required crop size is larger than padded input image size. No "
        "picture of ours is smaller than the others, I looked at them. I have made the padding larger so that it fits, and "
        "now another line stops.”*"
    ),
    program="digits_cnn",
    fault="shape/channels_last_confused",
    about="Classify handwritten digits with a small convolutional network: BatchNorm, Dropout and augmentation.",
    decoys=("traps/smoothed_targets",),
)
