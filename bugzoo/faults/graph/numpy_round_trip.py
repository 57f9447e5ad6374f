"""After activations were limited with numpy the model learns far less; nothing warns, and the outputs look as before."""

from bugzoo.faults.idioms import ACTIVATED
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "$HIDDEN = torch.from_numpy($ACTIVE.detach().numpy().clip(-10, 10))"

FAULT = Fault(
    title="A step of the forward pass is made in numpy",
    level=3,
    symptom="degraded",
    edits=rewrite(ACTIVATED, PLACE="torch.from_numpy($PLACE.detach().numpy().clip(-10, 10))"),
    not_on={
        "data_parallel": "DistributedDataParallel waits for the gradients that never come and stops with an error of its own at "
        "the second step: another symptom."
    },
    evidence=("parameter_audit.without_gradient_share > 0.1",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Autograd records what torch does, and numpy is not torch. numpy() refuses a tensor that needs a gradient, the error "
        "advises detach(), and with detach() the call works: what comes back from numpy is a new leaf without a history. "
        "backward() ends there, and 25,000 of mlp's 26,000 numbers never move."
    ),
    fix="Stay in torch for everything between parameters and loss: torch.clamp for numpy's clip, and so on.",
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
            "data instead of detach": "$HIDDEN = torch.from_numpy($ACTIVE.data.numpy().clip(-10, 10))",
            "a list instead": "$HIDDEN = torch.tensor($ACTIVE.clamp(-10, 10).tolist())",
            "no limits": "$HIDDEN = torch.from_numpy($ACTIVE.detach().numpy())",
        },
    ),
    shown_by=("gradient_health",),
    hints=(
        "Do all layers take part in the training? Compare their parameters with a copy from before.",
        "Print hidden.grad_fn after each line of the forward pass. Where is it None?",
        "Which line of the forward pass leaves torch and comes back?",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Ask the parameters that never move whether they are trainable.",
            "They are, and no gradient comes: `parameter_audit.frozen_share < 0.3`.",
            "They are not: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "initialisation/dead_relu",
            "Look at the gradients of the layers that stay still: are there none, or are they zeros?",
            "There are none at all.",
            "There are some, made of zeros.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Copy the parameters, train for some steps and compare: which have moved at all?",
            "Only those behind one place; the others are what they were, to the bit.",
            "All have moved, each of them a little.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.Tensor.numpy.html",),
)
