"""The computation graph: detach, in-place operations, casts."""

from bugzoo.faults.model import Cause

CAUSE = Cause(
    "a computation graph that is cut",
    also=("detached", "broken graph", "no gradient flows"),
    explains=("initialisation/", "optimizer/", "shape/"),
)
