"""The loss falls at first, then swings up again."""

from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="The loss falls, then swings up again",
    story=(
        "The first few dozen steps look promising: the loss falls from 2.2 to 1.0. Then it turns around, swings and climbs to "
        "2.8. When the run is over, the accuracy is 62 %. *“It behaves like a ball without brakes.”*"
    ),
    program="mlp",
    fault="loop/stale_gradients",
    tickets=(
        Ticket(
            "A clinic predicts how a disease goes on. The training loss comes down as far as {run.lowest:.2f}, but jumps up "
            "again and again. It ends at {run.last:.2f}, where a colleague's copy of the script ends at {healthy.last:.2f}. R "
            "squared is {run.metrics[r2]:.2f} on new patients, and the colleague has {healthy.metrics[r2]:.2f}. *“The table is "
            "small. With so few patients a loss has to jump.”*",
            program="regression_mlp",
        ),
        Ticket(
            "A small transformer learns to write help texts. Its training loss begins at {run.first:.2f} and falls to "
            "{run.lowest:.2f}. Then it climbs to {run.highest:.2f}, above its beginning. The validation loss is "
            "{run.loss:.2f}, and {healthy.loss:.2f} is usual for this model. *“It goes well, and then it overshoots for "
            "longer and longer, as if each step went on with what was meant for the steps before.”*",
            program="mini_transformer",
        ),
        Ticket(
            "After a good start the loss of this digit reader climbs to {run.highest:.2f}, although it began at "
            "{run.first:.2f}. While the schedule lowers the learning rate, the loss comes down again, to {run.last:.2f}. "
            "Last month's script ended at {healthy.last:.2f}. The accuracy is {run.accuracy:.0f} % instead of "
            "{healthy.accuracy:.0f} %.",
            program="checkpointed_mlp",
        ),
    ),
)
