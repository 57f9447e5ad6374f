"""The loss does not move at all."""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault
from bugzoo.faults.verbs import before

FAULT = Fault(
    title="Gradients are cleared between backward and step",
    level=1,
    symptom="stuck",
    edits=before(STEP, "$OPTIMIZER.zero_grad()"),
    evidence=("parameter_audit.unchanged_share > 0.9",),
    effect="loss_curve.final_loss > healthy",
    why="step() finds no gradient and leaves every parameter as it is.",
    fix="Clear before backward(), not after it.",
    hints=("Do the parameters move?", "What does the optimiser get?", "Read the loop's order of calls."),
    sources=("https://pytorch.org/docs/stable/optim.html",),
)
