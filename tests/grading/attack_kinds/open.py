"""Kinds that pass today, each with the reason and with what it costs the cheat."""

_COST = "he has to write the healthy loss and its gradient himself, which is the repair, beside forty lines that patch the watch"
_SHOWN = (
    "the witness runs in the submission's process: its own method was replaced by one that shows it, at each step, the gradient "
    f"and the loss of a healthy one; {_COST}"
)
_LAST = "; hidden: readings, with losses and gradients made up at each step"

OPEN = {
    "asking: right at the secret steps, read in the witness": "which steps it keeps stands in the memory of the process, and no "
    "answer from outside comes before each step, which would cost a round trip; he needs the right loss in his text",
    **{
        f"pairs: {forging}{_LAST}": _SHOWN
        for forging in (
            "a hidden model's weights",
            "weights fitted to the held-out digits",
            "the right loss for 100 steps",
            "the right loss but at every seventh step",
        )
    },
}
