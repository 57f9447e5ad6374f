"""The model learns, but less than it should. The first layer is the same before and after training, bit for bit."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Cause, Fault, LookAlike, Param
from bugzoo.faults.verbs import after, rewrite

FAULT = Fault(
    title="Parameters missing from the optimizer",
    level=3,
    symptom="degraded",
    params={"skip": Param(1, 1, 2, "how many of the model's first child modules are left out")},
    edits=rewrite(
        OPTIMIZER, PARAMETERS="[weights for part in list($MODEL.children())[$skip:] for weights in part.parameters()]"
    ),
    not_on={
        "finetune": (
            "its second task creates a new optimizer that holds every parameter: 0 weights are left out (measured)."
        ),
    },
    evidence=("parameter_audit.outside_and_untouched_share > 0.02",),
    effect="parameter_audit.unmoved_share > healthy",
    why=(
        "An optimizer only updates the tensors that you pass to it. A layer that is left out still gets gradients, but no "
        "step uses them. Its weights stay random, and the other layers have to work with random features. A list of a "
        "model's children from 1 on, for example, leaves out the first layer, because children are counted from 0."
    ),
    fix=(
        "Pass model.parameters() to the optimizer. If you need parameter groups, check that together they hold every "
        "parameter."
    ),
    repairs={
        "every child": rewrite(
            OPTIMIZER, PARAMETERS="[weights for part in model.children() for weights in part.parameters()]"
        ),
        "by name": rewrite(OPTIMIZER, PARAMETERS="[weights for name, weights in model.named_parameters()]"),
        "a second group": after(
            OPTIMIZER,
            'held = {id(weights) for group in optimizer.param_groups for weights in group["params"]}\n'
            'optimizer.add_param_group({"params": [weights for weights in model.parameters() if id(weights) not in held]})',
        ),
    },
    pretences={
        "trainable once more": after(OPTIMIZER, "for weights in model.parameters():\n    weights.requires_grad_(True)"),
        "a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)"),
        "the last child alone": rewrite(OPTIMIZER, PARAMETERS="list(model.children())[-1].parameters()"),
        "a copy of them": after(
            OPTIMIZER,
            'optimizer.add_param_group({"params": [next(model.parameters()).detach().clone().requires_grad_()]})',
        ),
    },
    shown_by=("gradient_health",),
    hints=(
        "Compare every weight tensor before and after training with torch.equal. Which ones are identical?",
        (
            "These tensors have requires_grad = True, and they get a gradient. Which object must know them so that "
            "they change?"
        ),
        "Count the elements of model.parameters() and those in optimizer.param_groups. Are the two counts equal?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Compare every weight tensor before and after training. Which are equal to the last bit?",
            "The tensors of one layer are equal: `parameter_audit.outside_and_untouched_share > 0.02`.",
            (
                "No tensor is equal. All of them have changed a little: `parameter_audit.outside_and_untouched_share < "
                "0.02`."
            ),
        ),
        LookAlike(
            "graph/detached_activation",
            "Check whether the tensors that did not change have a gradient after backward().",
            "These tensors have a gradient.",
            "These tensors have no gradient.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html#constructing-it",),
    cause=Cause(words.NOT_UPDATED),
    terms=("optimizer", "parameter group"),
    beside={"mlp": ("data/labels_out_of_sync",)},
)
