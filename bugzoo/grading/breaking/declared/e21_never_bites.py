"""Write the limit that protects nobody."""

from bugzoo.grading.breaking.model import Breaking

BREAKING = Breaking(
    title="The limit that protects nobody",
    story=(
        "The review model limits its gradients: whatever a batch brings, no step is made with more than the limit. A "
        "colleague says that such a line could as well be left out, as one would notice at once if it did not work. You"
        " bet against it. In your version the limit is still computed at every step, with the same number, and on the "
        "very gradients of that step; only no step is made with what it gives."
    ),
    program="sentiment_lstm",
    fault="clipping/clipped_after_step",
    ways=("a lower limit",),
    others=("clipping/clipped_before_backward", "clipping/clipped_by_value", "clipping/threshold_too_low"),
)
