"""The loss falls a little in the first steps and then lies at what guessing costs, whatever the learning rate."""

from bugzoo.faults.idioms import ACTIVATED, HEAD, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, instead, rewrite

LOOP = "for parameter in self.parameters():\n    nn.init.zeros_(parameter)"

FAULT = Fault(
    title="All weights begin at zero",
    level=2,
    symptom="stuck",
    edits=after(HEAD, LOOP, given=ACTIVATED),
    evidence=("gradient_health.zero_share > 0.9",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Units that begin alike get the same gradient and stay alike: a layer of 128 is one unit, 128 times. With zeros it is "
        "worse: behind a ReLU everything is 0, the gradient of a weight is a product with that 0, and the one that flows down is "
        "a product with weights of 0. Only the last bias moves, to how often each class comes: ln 10 = 2.3 nats."
    ),
    fix="Draw the weights at random, as nn.Linear does by itself; zeros are for biases, and for the last layer of a branch.",
    repairs=instead(
        LOOP,
        {
            "taken out": "",
            "only the biases": (
                "for parameter in self.parameters():\n    if parameter.dim() == 1:\n        nn.init.zeros_(parameter)"
            ),
            "drawn at random": (
                "for parameter in self.parameters():\n    if parameter.dim() > 1:\n"
                '        nn.init.kaiming_normal_(parameter, nonlinearity="relu")'
            ),
        },
    ),
    pretences=instead(
        LOOP,
        {
            "ones instead": LOOP.replace("zeros_(parameter)", "constant_(parameter, 1.0)"),
            "a small number": LOOP.replace("zeros_(parameter)", "constant_(parameter, 0.01)"),
            "only the weights": (
                "for parameter in self.parameters():\n    if parameter.dim() > 1:\n        nn.init.zeros_(parameter)"
            ),
        },
    )
    | {"higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 100)")},
    shown_by=("activation_stats", "overfit_one_batch"),
    hints=(
        "Do two units of a layer ever differ from one another, and what would make them?",
        "Print the gradient's norm of every parameter behind the first backward(). Which are not zero?",
        "Look at what the parameters hold when the model is made.",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/dead_relu",
            "Print some weights of the first layer, and its outputs in front of the activation.",
            "Weights and outputs are all zero.",
            "The weights are drawn at random, the outputs are far below zero.",
        ),
        LookAlike(
            "graph/loss_rebuilt_from_item",
            "Look at the bias of the last layer after some steps: has it moved from where it began?",
            "It has: it learns how often each class comes: `fresh_gradient.leaf_loss < 0.5`.",
            "It has not: nothing has: `fresh_gradient.leaf_loss > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the gradient's norm of each layer, from the first to the last one.",
            "It is exactly zero, but for the last bias.",
            "It is of the usual size everywhere.",
        ),
    ),
    sources=("https://cs231n.github.io/neural-networks-2/",),
)
