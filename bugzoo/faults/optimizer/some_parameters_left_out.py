"""The model learns, but less than it should. Its first layer is the same after the training as before, to the last digit."""

from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import after, rewrite

FAULT = Fault(
    title="Part of the model is in no optimiser",
    level=3,
    symptom="degraded",
    params={"skip": Param(1, 1, 2, "how many of the model's first children are left out")},
    edits=rewrite(
        OPTIMIZER, PARAMETERS="[weights for part in list($MODEL.children())[$skip:] for weights in part.parameters()]"
    ),
    not_on={
        "finetune": (
            "the optimiser of its second task is made anew and has everything: 0 weights are left out, measured."
        ),
    },
    evidence=("parameter_audit.outside_and_untouched_share > 0.02",),
    effect="parameter_audit.unmoved_share > healthy",
    why=(
        "An optimiser moves the tensors that it was given, and no others. Children are counted from 0, so that a list from 1 on "
        "leaves out the first one. It gets its gradients like all the others, and nobody ever uses them; what lies above it "
        "learns to live with whatever random numbers it began with."
    ),
    fix="Give the optimiser model.parameters(), and where groups are wanted, check that together they are all of it.",
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
        "Compare every weight tensor before and after the training. Which ones are equal, number by number?",
        "They require a gradient, and they get one. Who else has to know of them?",
        "Count the numbers in the model, and those in the optimiser's groups.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Compare every weight tensor before and after the training. Which are equal, number by number?",
            "Those of one layer: `parameter_audit.outside_and_untouched_share > 0.02`.",
            "None: all have moved, a little: `parameter_audit.outside_and_untouched_share < 0.02`.",
        ),
        LookAlike(
            "graph/detached_activation",
            "Look whether the tensors that did not move have a gradient after backward().",
            "They have one.",
            "They have none.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html#constructing-it",),
)
