"""The first step stops with "a leaf Variable that requires grad is being used in an in-place operation"."""

from bugzoo.faults.idioms import BACKWARD, OPTIMIZER, STEP
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, instead

LOOP = "for parameter in $MODEL.parameters():\n    parameter *= $KEPT"

FAULT = Fault(
    title="Parameters are changed in place under autograd",
    level=1,
    symptom="crash",
    params={"kept": Param(0.9999, 0.9, 1.0, "what is left of every parameter after a step")},
    edits=after(STEP, "for parameter in $MODEL.parameters():\n    parameter *= $kept", given=OPTIMIZER),
    evidence=("outcome == crashed",),
    effect="outcome == crashed",
    why=(
        "A parameter is a leaf: autograd computes the gradient with regard to the value that it had when the graph was built. "
        "Overwritten while gradients are recorded, it would be the result of an operation and no leaf any more, with nowhere to "
        "put its .grad, so torch refuses. Optimisers do the same under no_grad()."
    ),
    fix="Change parameters by hand under torch.no_grad(), or leave it to the optimiser: weight_decay is there for this.",
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
    hints=(
        "Optimisers change parameters in place all the time. What do they do that this code does not?",
        "The traceback names a line of the loop. What stands on its left side, and is it a leaf?",
        "Look at what happens to the parameters between one step of the optimiser and the next batch.",
    ),
    look_alikes=(
        LookAlike(
            "graph/inplace_activation",
            "Read what the message calls the tensor: a leaf, or a variable needed for the gradient.",
            "A leaf, and it comes behind the first step.",
            "A variable that is needed, and it comes in backward().",
        ),
        LookAlike(
            "graph/backward_twice",
            "Read of what the message speaks: a leaf that was changed, or a graph that was used up.",
            "A leaf.",
            "A graph.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/examples/pull/779",
        "https://pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd",
    ),
)
