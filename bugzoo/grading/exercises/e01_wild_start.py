"""The loss jumps in the first steps and swings around its first value afterwards."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="A wild start",
    story=(
        "A review classifier is trained anew, with the settings of a colleague. Its first loss is 0.71, about that of a "
        "guess. Over the first tenth of the run the loss averages 7.80, and over the last tenth 0.80. The accuracy is 52 %, "
        "and last month's version reached 76 %. It was the same on both machines of the group."
    ),
    program="sequence_classifier",
    fault="optimizer/rmsprop_momentum",
    tickets=(
        Ticket(
            story=(
                "A student rebuilds a digit reader from a paper. Her first losses are far above those of a guess. Then the "
                "loss stays at {run.last:.2f}, and the paper's code ends at {healthy.last:.2f}. The accuracy is "
                "{run.accuracy:.0f} %. *“I began again with another seed, and it was the same. So it is not bad luck. The "
                "data is what it always was, and the first loss of all is that of a guess: it goes wrong in the first "
                "steps.”*"
            ),
            program="digits_cnn",
            fault="optimizer/lr_too_high",
        ),
        Ticket(
            story=(
                "A character model is trained for {run.steps} steps. Over the first tenth of them its loss averages "
                "{run.first:.0f}, and over the last tenth {run.last:.0f}. The version in the archive goes from "
                "{healthy.first:.2f} to {healthy.last:.2f} on the same text. *“It is learning something, or the loss would not "
                "move at all. Let it run for a week.”*"
            ),
            program="mini_transformer",
            fault="optimizer/lr_too_high",
        ),
        Ticket(
            story=(
                "A reader of digits enlarges each picture before the network sees it. Over the first tenth of the run its loss "
                "averages {run.first:.0f}, and it ends at {run.last:.2f} with an accuracy of {run.accuracy:.0f} %. The same "
                "network on the same pictures has ended at {healthy.last:.2f} before, with {healthy.accuracy:.0f} %. *“The "
                "pictures are blurred when they are enlarged. No network can learn from them, so take the small ones.”*"
            ),
            program="image_pipeline",
            fault="optimizer/lr_too_high",
        ),
    ),
)
