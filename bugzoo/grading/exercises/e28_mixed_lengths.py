"""A text's result depends on the other texts in its batch."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="The same text, another verdict",
    story=(
        "A small attention model classifies film reviews as positive or negative, with an accuracy of 77 %. Then support "
        "reports a problem. A short review gets one score when it is sent alone, and another when it shares a batch with a "
        "long one. *“We only put it next to other people's texts.”*"
    ),
    program="sequence_classifier",
    fault="attention/mask_after_softmax",
    seeds=(0, 1),
    tickets=(
        Ticket(
            story=(
                "A search page sorts lines of documentation by how likely its word model finds them. The longest lines keep "
                "their score from day to day. A short line changes its score, and so its rank, with the lines that are "
                "scored beside it. *“The long lines are right. So it is about what stands behind the end of a short one.”* "
                "The model predicts {run.accuracy:.0f} % of the next words, at a loss of {run.loss:.2f} nats."
            ),
            program="word_lines",
        ),
        Ticket(
            story=(
                "A character model writes, and then checks what it wrote. A character gets one probability at the moment it "
                "is written, and another when the model reads the finished text. *“Sampling is random. With a fixed seed the "
                "difference would be gone.”* Its validation loss is {run.loss:.2f} nats. The version before this one had "
                "{healthy.loss:.2f}, and there both probabilities agreed."
            ),
            program="sampler",
        ),
        Ticket(
            story=(
                "An editor underlines characters that its language model finds unlikely. A user corrects a typo at the end "
                "of a passage, and at its beginning underlines appear and vanish. The validation loss is {run.loss:.2f} "
                "nats, at an accuracy of {run.accuracy:.0f} %."
            ),
            program="mini_transformer",
        ),
    ),
)
