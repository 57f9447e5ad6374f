"""Since we limited the activations, the model learns far less. There is no warning, and the outputs look fine."""

from bugzoo.faults.idioms import ACTIVATED
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "$HIDDEN = torch.from_numpy($ACTIVE.detach().cpu().numpy().clip(-10, 10)).to(device)"

FAULT = Fault(
    title="NumPy operation inside the forward pass",
    level=3,
    symptom="degraded",
    edits=rewrite(ACTIVATED, PLACE="torch.from_numpy($PLACE.detach().cpu().numpy().clip(-10, 10)).to(device)"),
    not_on={
        "data_parallel": (
            "DistributedDataParallel waits for gradients that never arrive and raises its own error at the second "
            "step. That is a different symptom."
        )
    },
    evidence=("parameter_audit.without_gradient_share > 0.1",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Autograd records only operations of torch. numpy() refuses a tensor that requires grad, and the error "
        "advises detach(). With detach() the call works, but the tensor that returns from NumPy is a new leaf "
        "without a computation graph. So backward() ends there, and 25,000 of mlp's 26,000 parameters never "
        "change."
    ),
    fix="Stay in torch for everything between the parameters and the loss: torch.clamp for NumPy's clip, and so on.",
    repairs=instead(
        LINE,
        {
            "torch's clamp": "$HIDDEN = $ACTIVE.clamp(-10, 10)",
            "taken out": "$HIDDEN = $ACTIVE",
            "a minimum of torch": "$HIDDEN = torch.minimum($ACTIVE, torch.tensor(10.0))",
        },
    ),
    pretences=instead(
        LINE,
        {
            "the result asked for gradients": f"{LINE}.requires_grad_()",
            "data instead of detach": "$HIDDEN = torch.from_numpy($ACTIVE.data.cpu().numpy().clip(-10, 10)).to(device)",
            "a list instead": "$HIDDEN = torch.tensor($ACTIVE.clamp(-10, 10).tolist(), device=device)",
            "no limits": "$HIDDEN = torch.from_numpy($ACTIVE.detach().cpu().numpy()).to(device)",
        },
    ),
    shown_by=("gradient_health",),
    hints=(
        "Compare the parameters with a copy from before the training. Do all layers learn?",
        "Print hidden.grad_fn after each line of the forward pass. Where is it None?",
        "Which line of the forward pass leaves torch and comes back?",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Print requires_grad for each of the parameters that do not change.",
            "requires_grad is True, but no gradient arrives: `parameter_audit.frozen_share < 0.3`.",
            "requires_grad is False: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "initialisation/dead_relu",
            "Print .grad of the layers that do not change: is it None, or a tensor of zeros?",
            "The layers have no gradient (None).",
            "The gradient is a tensor of zeros.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Copy the parameters, train for some steps and compare: which ones have changed?",
            "Only the parameters after one point of the model have changed. The others are identical to the last bit.",
            "All parameters have changed, each of them a little.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.Tensor.numpy.html",),
    terms=("detach",),
)
