"""A text's result depends on the other texts in its batch."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The same review, another verdict",
    story=(
        "A small attention model classifies film reviews as positive or negative, with an accuracy of 77 %. Then support "
        "reports a problem. A short review gets one score when it is sent alone, and another when it shares a batch with a "
        "long one. *“We only put it next to other people's texts.”*"
    ),
    program="sequence_classifier",
    fault="attention/mask_after_softmax",
    seeds=(0, 1),
)
