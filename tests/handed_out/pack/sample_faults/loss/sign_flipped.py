"""The loss rises from the first step, and accuracy falls below chance."""

from bugzoo.faults.idioms import BACKWARD
from bugzoo.faults.model import Fault
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="The loss is maximised",
    level=1,
    symptom="diverges",
    edits=rewrite(BACKWARD, LOSS="(-$LOSS)"),
    evidence=("loss_curve.final_loss > 10",),
    effect="metrics.accuracy < healthy",
    why="The optimiser goes downhill; on minus the loss that is uphill.",
    fix="Take the minus sign away.",
    hints=("In which direction does it go?", "Compare the sign of two numbers.", "Read the line with backward()."),
    sources=("https://pytorch.org/docs/stable/optim.html",),
)
