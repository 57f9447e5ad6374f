"""The loss is good, and what the model writes is not."""

from bugzoo.grading.kinds import Decoy
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="It reads better than it writes",
    story=(
        "A model reads help texts and learns to predict the next character. Its validation loss is 2.54, as good as last "
        "month. But readers say that its own texts got worse. The report hardly shows it: on what it wrote its loss is 2.66 "
        "(`written`), where 2.64 was usual. A reviewer found a `log_softmax` before the loss. *“So the loss has a softmax "
        "too many, and its gradients are too small. It has not learned to spell.”*"
    ),
    program="sampler",
    fault="generation/cache_shared_by_layers",
    kind=Decoy("traps/log_softmax_first"),
    about=(
        "A character language model that writes one character after the other.\n\nIt is trained on the help texts that ship "
        "with Python. Then it continues beginnings of texts. `written` is its own loss on the characters that it wrote, in "
        "nats. Each text is read in one piece for that. It should be about as likely as real text."
    ),
    tickets=(
        Ticket(
            "An editor completes comments, character by character. Its model was retrained. On texts of people the new model "
            "has a loss of {run.loss:.2f}, the one before {healthy.loss:.2f}. On its own completions the loss is "
            "{run.metrics[written]:.2f}, where {healthy.metrics[written]:.2f} was usual. *“It has only seen texts of people. "
            "It must learn from its own mistakes as well.”*",
        ),
        Ticket(
            "A student trains a character model. Its accuracy on held-out text is {run.accuracy:.0f} %, and the training "
            "loss ends at {run.last:.2f}. The teacher's model has the same numbers. But the student's model writes words "
            "that fall apart, and the teacher's does not. The student's loss has a `log_softmax` more. *“Without it, each "
            "printed digit of the loss is the same. So it has learned the same, and what is wrong comes after the "
            "training.”*",
        ),
        Ticket(
            "A help system writes its answers with a small model. Readers complain that letters are missing or doubled. To "
            "the model itself, its own texts look almost usual: a loss of {run.metrics[written]:.2f}, with {run.loss:.2f} on "
            "real texts. In the release before, it was {healthy.metrics[written]:.2f} on its own texts.",
        ),
    ),
)
