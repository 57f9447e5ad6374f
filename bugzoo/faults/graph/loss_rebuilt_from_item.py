"""The loss stays where it began. There is no error, backward() and step() are called, the learning rate does nothing."""

from bugzoo.faults.idioms import BACKWARD, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import before, instead, rewrite

LINE = "$LOSS = torch.tensor($LOSS.item(), requires_grad=True)"

FAULT = Fault(
    title="The loss is made anew from a number",
    level=2,
    symptom="stuck",
    edits=before(BACKWARD, "$LOSS = torch.tensor($LOSS.item(), requires_grad=True)"),
    not_on={
        "amp_transformer": "GradScaler looks for gradients, finds none and stops with an error of its own at the first step: "
        "another symptom."
    },
    evidence=("fresh_gradient.leaf_loss > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "item() is a Python number, without the history of how it came about. torch.tensor(..., requires_grad=True) makes a new "
        "leaf of it: backward() is content, because a leaf that wants a gradient is there, and gives it the gradient 1. No "
        "parameter gets one, .grad stays None everywhere, and the optimiser passes over all of them."
    ),
    fix="Call backward() on the loss that the model's outputs went into; take item() for what is printed or kept.",
    repairs=instead(
        LINE,
        {
            "taken out": "",
            "a clone": "$LOSS = $LOSS.clone()",
            "the number beside it": "value = $LOSS.item()",
        },
    ),
    pretences=instead(
        LINE,
        {
            "the gradient asked for later": "$LOSS = torch.tensor($LOSS.item()).requires_grad_()",
            "detached": "$LOSS = $LOSS.detach().requires_grad_()",
            "made a parameter": "$LOSS = torch.nn.Parameter(torch.tensor($LOSS.item()))",
        },
    )
    | {"higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 100)")},
    shown_by=("parameter_audit", "overfit_one_batch"),
    hints=(
        "Does anything move at all? Compare a parameter before and after ten steps.",
        "Print loss.grad_fn just before backward(), and .grad of some parameter just behind it.",
        "Read the lines between the loss function and backward(): is it the same tensor that comes out?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Behind backward(), print of some parameter whether it has a .grad at all.",
            "It has none.",
            "It has one, of the usual size.",
        ),
        LookAlike(
            "freezing/frozen_layers",
            "Count the parameters that never move, from the first layer to the last.",
            "All of them: `parameter_audit.without_gradient_share > 0.5`.",
            "The last ones do: `parameter_audit.without_gradient_share < 0.5`.",
        ),
        LookAlike(
            "initialisation/zero_weights",
            "Look at the bias of the last layer after some steps: has it moved from where it began?",
            "It has not: nothing has.",
            "It has: it learns how often each class comes.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.Tensor.item.html",),
)
