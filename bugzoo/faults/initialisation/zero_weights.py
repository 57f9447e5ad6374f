"""The loss falls a little in the first steps, then plateaus at the loss of guessing, whatever the learning rate."""

from bugzoo.faults.idioms import ACTIVATED, HEAD, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, instead, rewrite

LOOP = "for parameter in self.parameters():\n    nn.init.zeros_(parameter)"

FAULT = Fault(
    title="All weights initialized to zero",
    level=2,
    symptom="stuck",
    edits=after(HEAD, LOOP, given=ACTIVATED),
    evidence=("gradient_health.zero_share > 0.9",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Units that begin equal get the same gradient and stay equal, so nothing breaks the symmetry. A layer of 128 "
        "units is then one unit, 128 times. With zeros it is worse: after a ReLU every activation is 0, so the next "
        "layer's weights get a gradient of 0. The gradient that flows back is multiplied by weights of 0. Only the "
        "last bias learns: the class frequencies, ln 10 = 2.3 nats."
    ),
    fix=(
        "Initialize the weights at random, as nn.Linear does by default. Zeros are for biases, and for the last layer "
        "of a residual branch."
    ),
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
        "Do two units of one layer ever differ from each other? What would make them differ?",
        "After the first backward(), print the gradient norm of every parameter. Which norms are not zero?",
        "Print the values of the parameters right after the model is created.",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/dead_relu",
            "Print some weights of the first layer, and its outputs before the activation.",
            "Weights and outputs are all zero.",
            "The weights are random, and the outputs are far below zero.",
        ),
        LookAlike(
            "graph/loss_rebuilt_from_item",
            "Print the bias of the last layer before and after some steps. Has the bias changed?",
            "The bias has learned how often each class occurs: `fresh_gradient.leaf_loss < 0.5`.",
            "The bias has not changed, and no other parameter has: `fresh_gradient.leaf_loss > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the gradient norm of each parameter, from the first layer to the last.",
            "The gradient norm is exactly zero for all but the last bias.",
            "The gradient norm has its usual size everywhere.",
        ),
    ),
    sources=("https://cs231n.github.io/neural-networks-2/",),
    terms=("weight initialization", "gradient norm"),
)
