"""The loss stays at its starting value, at any learning rate. backward() and step() run without an error."""

from bugzoo.faults.idioms import BACKWARD, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import before, instead, rewrite

LINE = "$LOSS = torch.tensor($LOSS.item(), requires_grad=True)"

FAULT = Fault(
    title="Loss rebuilt with torch.tensor(loss.item())",
    level=2,
    symptom="stuck",
    edits=before(BACKWARD, "$LOSS = torch.tensor($LOSS.item(), requires_grad=True)"),
    not_on={
        "amp_transformer": (
            "GradScaler finds no gradients and raises its own error at the first step. That is a different symptom."
        )
    },
    evidence=("fresh_gradient.leaf_loss > 0.5",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "loss.item() is a Python number without a computation graph. From that number, torch.tensor(..., "
        "requires_grad=True) creates a new leaf tensor. The leaf requires a gradient, so backward() raises no "
        "error and gives the leaf the gradient 1. No parameter gets a gradient. Every .grad stays None, and the "
        "optimizer skips all parameters."
    ),
    fix=(
        "Call backward() on the loss that was computed from the model's outputs. Use item() only for what you "
        "print or keep."
    ),
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
        "Compare a parameter before and after ten steps. Has anything changed at all?",
        "Print loss.grad_fn right before backward(), and .grad of some parameter right after it.",
        "Read the lines between the loss function and backward(). Is it still the same tensor?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Print .grad of some parameter right after backward(). Is it None?",
            "The parameter has no gradient (None).",
            "The gradient is a tensor of the usual size.",
        ),
        LookAlike(
            "freezing/frozen_layers",
            "Count the parameters that never change, from the first layer to the last.",
            "No parameter changes: `parameter_audit.without_gradient_share > 0.5`.",
            "The last layers do change: `parameter_audit.without_gradient_share < 0.5`.",
        ),
        LookAlike(
            "initialisation/zero_weights",
            "Print the bias of the last layer before and after some steps. Has the bias changed?",
            "The bias has not changed, and no other parameter has.",
            "The bias has learned how often each class occurs.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.Tensor.item.html",),
    terms=("leaf tensor", "computation graph"),
)
