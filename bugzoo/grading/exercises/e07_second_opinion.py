"""A reviewer objects. Is there anything to repair?"""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A reviewer objects",
    story=(
        "A pull request waits for you. The reviewer wrote: *“I have seen this before, it ruins the training, please "
        "repair it.”* The author answered: *“I trained it, and it reads 95 % of the digits, as it always did.”* Who is right? "
        "Look before you change anything."
    ),
    program="mlp",
    fault="traps/log_softmax_first",
)
