"""Write the run that grows."""

from bugzoo.grading.breaking.model import Breaking

BREAKING = Breaking(
    title="It grows, and learns as ever",
    story=(
        "*“Our training dies at night, hours in, and never in the ten minutes in which somebody looks.”* You want to "
        "show them such a run in ten seconds: every loss, every weight and the result are what they were, to the last "
        "digit. Only the memory of the process gets larger with each step, because something of each step is still "
        "there when it is over."
    ),
    program="mlp",
    fault="memory/losses_kept_with_graph",
    also=("held_tensors",),
    named=("memory/outputs_kept",),
    ways=("a copy", "the half of it"),
    others=("memory/retain_graph_left_on", "modes/no_grad_missing", "loop/stale_gradients"),
)
