"""Write the step that makes a detour."""

from bugzoo.grading.breaking.model import Breaking

BREAKING = Breaking(
    title="The long way to the model",
    story=(
        "*“If our loop did anything needless at each step, we would have seen it by now: the losses would be others.”* "
        "You want to show them a run in which they are not. Every loss, every weight and the result are what they were, "
        "to the last digit, and nothing waits for data or asks for a number. Only the batch, on its way from the loader "
        "to the model, is made anew more often than anybody needs. With small pictures no clock notices; with large ones "
        "it is paid for at every step."
    ),
    program="mlp",
    fault="speed/data_copied_twice",
    ways=("twice, not waited for", "two clones"),
    others=("speed/sync_every_step", "speed/anomaly_mode_left_on", "loop/stale_gradients"),
)
