"""The loss falls to that of guessing by class frequency and plateaus there. Most gradients are exactly zero."""

from bugzoo.faults.idioms import ACTIVATED, LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, instead, rewrite

LOOP = (
    "for name, parameter in $MODEL.named_parameters():\n"
    '    if name.endswith("bias"):\n'
    "        torch.nn.init.constant_(parameter, -$bias)"
)
FOUND = LOOP.replace("$bias", "$SIZE")

FAULT = Fault(
    title="Dead ReLUs from large negative biases",
    level=3,
    symptom="stuck",
    params={"bias": Param(20.0, 10.0, 1000.0, "how far below zero every bias begins")},
    edits=before(OPTIMIZER, LOOP, given=ACTIVATED),
    evidence=("activation_stats.worst_dead_share > 0.9",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "ReLU outputs 0 for every negative input, and its gradient there is 0 as well. A unit with a negative input "
        "for every sample passes no signal forward and no gradient back. The weights of this unit never change again: "
        "it is a dead ReLU. When all units of a layer are dead, the head sees zeros, and only the head's bias learns. "
        "This bias learns the class frequencies: a loss of ln 10 = 2.3 nats for ten digits."
    ),
    fix=(
        "Initialize biases with zeros, or leave PyTorch's default. LeakyReLU still passes a gradient to units that "
        "would die later in training."
    ),
    repairs=instead(
        FOUND,
        {
            "biases of zero": FOUND.replace("-$SIZE", "0.0"),
            "small ones": FOUND.replace("-$SIZE", "0.01"),
            "drawn as layers draw them": FOUND.replace(
                "torch.nn.init.constant_(parameter, -$SIZE)", "torch.nn.init.uniform_(parameter, -0.1, 0.1)"
            ),
        },
    )
    | {"built once more": before(OPTIMIZER, "model = Net().to(device)")},
    pretences={
        "higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 10)"),
        "weights five times as large": after(
            OPTIMIZER, "for parameter in model.parameters():\n    if parameter.dim() > 1:\n        parameter.data *= 5"
        ),
        "only the head": Swap(
            FOUND, FOUND.replace('name.endswith("bias")', 'name.endswith("bias") and "head" not in name')
        ),
        "half as low": Swap(FOUND, FOUND.replace("-$SIZE", "-$SIZE / 2")),
    },
    shown_by=("gradient_health", "overfit_one_batch"),
    hints=(
        "Which parameters change during training? Print .grad of those that do not.",
        (
            "Collect the outputs of each layer after its activation over a few batches. What is the largest output of "
            "each layer?"
        ),
        (
            "Print the parameters of each layer right before the optimizer is created. Compare the values with those "
            "of a fresh nn.Linear."
        ),
    ),
    look_alikes=(
        LookAlike(
            "graph/detached_activation",
            "Print .grad of the layers that do not change: is it None, or a tensor of zeros?",
            "The .grad is a tensor of zeros: `parameter_audit.without_gradient_share < 0.1`.",
            "These layers have no .grad (None): `parameter_audit.without_gradient_share > 0.1`.",
        ),
        LookAlike(
            "initialisation/zero_weights",
            "Print some weights of the first layer, and its outputs before the activation.",
            "The weights are random, and the outputs are far below zero.",
            "Weights and outputs are all zero.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the gradient norm of each parameter, from the first layer to the last.",
            "The gradient norm is exactly zero for all but the last bias.",
            "The gradient norm has its usual size everywhere.",
        ),
    ),
    sources=("https://arxiv.org/abs/1903.06733", "https://cs231n.github.io/neural-networks-1/"),
    terms=("dead ReLU",),
    beside={"mlp": ("memory/losses_kept_with_graph",)},
)
