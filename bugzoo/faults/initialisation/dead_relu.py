"""The loss falls to what guessing by frequency costs and stays there. Most gradients are zero, and not small: zero."""

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
    title="Biases that keep every rectifier shut",
    level=3,
    symptom="stuck",
    params={"bias": Param(20.0, 10.0, 1000.0, "how far below zero every bias begins")},
    edits=before(OPTIMIZER, LOOP, given=ACTIVATED),
    evidence=("activation_stats.worst_dead_share > 0.9",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "A ReLU gives 0 below zero, and its slope there is 0 as well. A unit whose input is negative for every sample passes "
        "nothing forward and no gradient back, so its own weights never change: it is dead for good. With all of a layer dead "
        "the head sees zeros, and only its bias learns: how often each class comes, ln 10 = 2.3 nats for ten digits."
    ),
    fix="Begin with biases of zero, or as PyTorch draws them; a leaky slope keeps units that died later within reach.",
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
        "Which parameters have moved, and what does the gradient of the others look like?",
        "Collect the outputs of each layer behind its activation over a few batches. What is their largest value?",
        "Look at what the parameters hold just before the optimiser is built.",
    ),
    look_alikes=(
        LookAlike(
            "graph/detached_activation",
            "Look at the gradients of the layers that stay still: are there none, or are they zeros?",
            "There are some, made of zeros: `parameter_audit.without_gradient_share < 0.1`.",
            "There are none at all: `parameter_audit.without_gradient_share > 0.1`.",
        ),
        LookAlike(
            "initialisation/zero_weights",
            "Print some weights of the first layer, and its outputs in front of the activation.",
            "The weights are drawn at random, the outputs are far below zero.",
            "Weights and outputs are all zero.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the gradient's norm of each layer, from the first to the last one.",
            "It is exactly zero below the last bias.",
            "It is of the usual size everywhere.",
        ),
    ),
    sources=("https://arxiv.org/abs/1903.06733", "https://cs231n.github.io/neural-networks-1/"),
)
