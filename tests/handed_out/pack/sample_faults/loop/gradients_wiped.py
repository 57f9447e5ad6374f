"""The loss does not move at all."""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault
from bugzoo.faults.verbs import before, instead

WIPED = "$OPTIMIZER.zero_grad()\n$OPTIMIZER.step()"

FAULT = Fault(
    title="Gradients are cleared between backward and step",
    level=1,
    symptom="stuck",
    edits=before(STEP, "$OPTIMIZER.zero_grad()"),
    evidence=("parameter_audit.unchanged_share > 0.9",),
    effect="loss_curve.final_loss > healthy",
    why="step() finds no gradient and leaves every parameter as it is.",
    fix="Clear before backward(), not after it.",
    repairs=instead(
        WIPED,
        {
            "behind the step": "$OPTIMIZER.step()\n$OPTIMIZER.zero_grad()",
            "and None behind the step": "$OPTIMIZER.step()\n$OPTIMIZER.zero_grad(set_to_none=True)",
        },
    ),
    pretences=instead(
        WIPED,
        {
            "zeros in place of None": "$OPTIMIZER.zero_grad(set_to_none=False)\n$OPTIMIZER.step()",
            "a second step": "$OPTIMIZER.zero_grad()\n$OPTIMIZER.step()\n$OPTIMIZER.step()",
        },
    ),
    hints=("Do the parameters move?", "What does the optimiser get?", "Read the loop's order of calls."),
    sources=("https://pytorch.org/docs/stable/optim.html",),
)
