"""A text's score depends on its neighbours."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The same review, another verdict",
    story=(
        "A small attention model sorts film reviews into praise and blame, 77 % of them rightly. Then support reports: a "
        "short review gets one score when it is sent alone and another when it shares a batch with a long one. "
        "*“We only put it next to other people's texts.”*"
    ),
    program="sequence_classifier",
    fault="attention/mask_after_softmax",
    seeds=(0, 1),
)
