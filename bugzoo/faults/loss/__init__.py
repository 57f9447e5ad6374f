"""The loss: logits, targets, reduction, broadcasting, sign."""

from bugzoo.faults.model import Cause

CAUSE = Cause(
    "a loss function with the wrong kind of input",
    also=("wrong loss", "loss function", "probabilities instead of logits"),
)
