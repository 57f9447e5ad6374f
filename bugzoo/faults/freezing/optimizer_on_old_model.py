"""The loss does not move at all, though gradients are there and the optimiser steps; the rate makes no difference."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

BOTH = "model = Net().to(device)\noptimizer = $OPTIMIZER"
LINES = f"{BOTH}\nmodel = Net().to(device)"

FAULT = Fault(
    title="The optimiser holds the parameters of another model",
    level=2,
    symptom="stuck",
    edits=Swap(BOTH, LINES),
    not_on={
        "amp_transformer": (
            "GradScaler finds no gradient in the optimiser's parameters and raises before the first step: a "
            "crash, measured."
        ),
        "finetune": "a second optimiser is made in its loop, for the model that is there: it learns, and later.",
    },
    evidence=("parameter_audit.outside_and_untouched_share > 0.4",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "An optimiser holds parameters, not a model and not a name. Made anew behind it, for a fresh start, another size or "
        "after loading, the model has parameters that nobody steps: they get gradients, which zero_grad() of the optimiser does "
        "not clear either, and those that are stepped belong to a model that nobody calls. In notebooks it takes one cell that "
        "is run again."
    ),
    fix="Build the optimiser last, and again whenever the model is; load weights into the model that is there.",
    repairs=instead(
        LINES,
        {
            "the optimiser behind it": f"{LINES}\noptimizer = $OPTIMIZER",
            "the list changed": f'{LINES}\noptimizer.param_groups[0]["params"] = list(model.parameters())',
        },
    ),
    pretences=instead(
        LINES,
        {
            "asked for gradients": f"{LINES}\nmodel.requires_grad_(True)",
            "the old weights": f"{BOTH}\nweights = model.state_dict()\nmodel = Net().to(device)\nmodel.load_state_dict(weights)",
            "gradients cleared": f"{LINES}\nmodel.zero_grad()",
        },
    )
    | {"a hundred times the rate": rewrite(LEARNING_RATE, LR="fold($LR * 100)")},
    shown_by=("overfit_one_batch", "fresh_gradient"),
    hints=(
        "Which numbers does a step change, and which numbers does the forward pass read?",
        "Compare id() of the model's first parameter with that of the first one that the optimiser holds.",
        "In which order are the things made that the training loop uses, and is one of them made twice?",
    ),
    look_alikes=(
        LookAlike(
            "graph/loss_rebuilt_from_item",
            "Behind backward(), print of some parameter of the model whether it has a .grad at all.",
            "It has one: `fresh_gradient.leaf_loss < 0.5`.",
            "It has none: `fresh_gradient.leaf_loss > 0.5`.",
        ),
        LookAlike(
            "freezing/frozen_layers",
            "Ask the optimiser whether it holds the parameters that never move, one by one.",
            "It does not: `parameter_audit.frozen_share < 0.3`.",
            "It does, and they are not trainable: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Take one parameter of the model, make a step, and compare it to the last bit.",
            "It is the same.",
            "It has moved, a little.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/14467",),
)
