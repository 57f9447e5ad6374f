"""The first step stops with "a leaf Variable that requires grad is being used in an in-place operation"."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, OPTIMIZER, STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, instead

LOOP = "for parameter in $MODEL.parameters():\n    parameter *= $KEPT"

FAULT = Fault(
    title="In-place parameter update without torch.no_grad()",
    level=1,
    symptom="crash",
    params={"kept": Param(0.9999, 0.9, 1.0, "factor that every parameter is multiplied by after a step")},
    edits=after(STEP, "for parameter in $MODEL.parameters():\n    parameter *= $kept", given=OPTIMIZER),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "A parameter is a leaf tensor: autograd computes the gradient for the value that it had when the graph "
        "was built. An in-place change under autograd would turn the parameter into the result of an operation. "
        "The parameter would no longer be a leaf, and its gradient would have no place to go, so torch raises an "
        "error. Optimizers make the same change under torch.no_grad()."
    ),
    fix=(
        "Change parameters by hand only under torch.no_grad(). Or leave it to the optimizer: its weight_decay "
        "option is there for this."
    ),
    repairs=instead(
        LOOP,
        {
            "under no_grad": (
                "with torch.no_grad():\n    for parameter in $MODEL.parameters():\n        parameter *= $KEPT"
            ),
            "the detached tensor": "for parameter in $MODEL.parameters():\n    parameter.detach().mul_($KEPT)",
            "its data": "for parameter in $MODEL.parameters():\n    parameter.data *= $KEPT",
            "taken out": "",
        },
    ),
    pretences=instead(
        LOOP,
        {
            "switched off first": f"$MODEL.requires_grad_(False)\n{LOOP}",
            "gradients off for good": f"torch.set_grad_enabled(False)\n{LOOP}",
            "only the weights": "for parameter in $MODEL.parameters():\n    if parameter.dim() > 1:\n        parameter *= $KEPT",
        },
    )
    | {
        "in front of backward": (
            Swap(LOOP, ""),
            before(BACKWARD, "for parameter in model.parameters():\n    parameter *= 0.9999"),
        )
    },
    free=("update",),
    hints=(
        "Look at what happens to the parameters between the optimizer's step() and the next batch.",
        "The traceback names a line of the loop. Which tensor is on its left side, and what does its is_leaf say?",
        (
            "Optimizers change parameters in place all the time. Read the source of one: what does it do that "
            "this code does not?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "graph/inplace_activation",
            "Read what the message calls the tensor: a leaf, or a variable needed for the gradient.",
            "The message calls it a leaf, and the error comes after the first optimizer step.",
            "The message calls it a needed variable, and the error comes in backward().",
        ),
        LookAlike(
            "graph/backward_twice",
            "Read the message: is it about a changed leaf, or about a graph that was used twice?",
            "The message is about a leaf.",
            "The message is about a graph.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/examples/pull/779",
        "https://pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd",
    ),
    cause=Cause(words.OVERWRITTEN),
    terms=("leaf tensor", "in-place operation"),
)
