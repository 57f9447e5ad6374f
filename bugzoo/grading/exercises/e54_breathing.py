"""Two things that are wrong in one program, each of which somebody has seen."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A loss that breathes",
    story=(
        "A digit reader that got 94 % of its pictures right gets 39 % today, and there are complaints. *“Its loss rises "
        "and falls like somebody breathing. I was told that losses do that.”* And from somebody else: *“I asked it about "
        "the same pictures again, and it had changed its mind.”*\n\n"
        "They speak of different things, and both are wrong in this program: it is repaired when neither is left. The "
        "diagnosis and the hints are about the breathing."
    ),
    program="digits_cnn",
    fault="data/no_shuffle",
    beside=("modes/eval_mode_missing",),
)
