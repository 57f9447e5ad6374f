"""A reviewer objects to a pull request. Is anything wrong?"""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A reviewer objects",
    story=(
        "A pull request waits for you. The reviewer wrote: *“I have seen this before. It ruins the training, please "
        "repair it.”* The author answered: *“I trained it. Its accuracy is 95 %, as always.”* Who is right? "
        "Look before you change anything."
    ),
    program="mlp",
    fault="traps/log_softmax_first",
)
