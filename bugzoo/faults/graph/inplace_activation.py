"""The first backward() stops with "one of the variables needed for gradient computation has been modified"."""

from bugzoo.faults.idioms import ACTIVATED, LAYERED
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, either, rewrite

FAULT = Fault(
    title="An activation is changed in place after autograd saved it",
    level=2,
    symptom="crash",
    edits=either(
        after(ACTIVATED, "$RESULT -= $RESULT.mean()"),
        rewrite(LAYERED, PLACE="$NN.Sigmoid(), $NN.ReLU(inplace=True)"),
    ),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "ReLU keeps its output to know later where the gradient passes. An in-place operation overwrites that output; "
        "autograd notices by the tensor's version counter and refuses to compute a wrong gradient."
    ),
    fix="Write the out-of-place form: hidden = hidden - hidden.mean().",
    hints=(
        "The error appears in backward(), but its cause lies in the forward pass.",
        "The message names an operation and a version: who saved the tensor, and who changed it after that?",
        "Look in the forward pass for an operator that changes its left side instead of making a new tensor.",
    ),
    look_alikes=(
        LookAlike("graph/backward_twice", "That message speaks of buffers that have been freed, not of a version."),
    ),
    sources=("https://pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks",),
)
