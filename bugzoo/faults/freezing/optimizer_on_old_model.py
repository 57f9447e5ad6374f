"""The loss does not change at all, although there are gradients and optimizer steps, whatever the learning rate."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

BOTH = "model = Net().to(device)\noptimizer = $OPTIMIZER"
LINES = f"{BOTH}\nmodel = Net().to(device)"

FAULT = Fault(
    title="Model re-created after the optimizer",
    level=2,
    symptom="stuck",
    edits=Swap(BOTH, LINES),
    not_on={
        "amp_transformer": (
            "GradScaler finds no gradient in the optimizer's parameters and raises before the first step: a crash "
            "(measured)."
        ),
        "finetune": "its loop creates a second optimizer for the current model: the model learns, only later.",
    },
    evidence=("parameter_audit.outside_and_untouched_share > 0.4",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "An optimizer holds parameter tensors, not a model or a variable name. If the model is re-created after the "
        "optimizer (a fresh start, another size, loading), the optimizer still holds the old parameters. The new "
        "parameters get gradients, but no step uses them, and optimizer.zero_grad() does not clear them. The optimizer "
        "steps a model that the loop never calls. In a notebook, re-running one cell is enough."
    ),
    fix=(
        "Create the optimizer last, and again whenever you re-create the model. Load weights into the existing model."
    ),
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
        "Which tensors does optimizer.step() change, and which tensors does the forward pass read?",
        "Compare id() of the model's first parameter with id() of the first one in optimizer.param_groups.",
        "In which order does the script create the objects that the training loop uses? Is one of them created twice?",
    ),
    look_alikes=(
        LookAlike(
            "graph/loss_rebuilt_from_item",
            "After backward(), check whether the parameters of the model have a .grad at all.",
            "The parameters have a .grad: `fresh_gradient.leaf_loss < 0.5`.",
            "The parameters have no .grad (None): `fresh_gradient.leaf_loss > 0.5`.",
        ),
        LookAlike(
            "freezing/frozen_layers",
            "For each parameter that never changes, check whether the optimizer holds it.",
            "The optimizer does not hold these parameters: `parameter_audit.frozen_share < 0.3`.",
            "The optimizer holds these parameters, and they are not trainable: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Copy one parameter of the model, make one step, and compare with torch.equal.",
            "The parameter is identical.",
            "The parameter has changed a little.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/14467",),
    terms=("optimizer", "one-batch overfit test"),
)
