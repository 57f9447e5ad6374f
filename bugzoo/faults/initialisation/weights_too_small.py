"""For a long time nothing happens at all: the loss lies at what guessing costs, then it begins to fall, late."""

from bugzoo.faults.idioms import ACTIVATED, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import before, instead

LOOP = (
    "for parameter in $MODEL.parameters():\n"
    "    if parameter.dim() > 1:\n"
    "        torch.nn.init.normal_(parameter, std=$std)\n"
    "    else:\n"
    "        torch.nn.init.zeros_(parameter)"
)
FOUND = LOOP.replace("$std", "$STD")

FAULT = Fault(
    title="Weights begin many times too small",
    level=4,
    symptom="degraded",
    params={"std": Param(0.001, 1e-6, 0.002, "standard deviation that the weights are drawn with")},
    edits=before(OPTIMIZER, LOOP, given=ACTIVATED),
    not_on={
        "modular_addition": "one hidden layer shrinks what goes through it to 0.007 of it, not to nothing.",
    },
    evidence=("activation_stats.growth < 0.001",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Each layer multiplies what it gets. A deviation of 0.001, where the root of 1 / inputs, about 0.1, is usual, makes what "
        "comes out of three layers a million times smaller, and all images look alike there. The gradient comes down by the same "
        "products, so that the first layer gets next to nothing. Adam divides by the gradient's size and gets out of it after "
        "some hundred steps; SGD does not."
    ),
    fix="Leave the layers' own initialisation, or draw with a standard deviation of sqrt(2 / inputs) behind a ReLU (He et al.).",
    repairs=instead(
        FOUND,
        {
            "taken out": "",
            "by the number of inputs": FOUND.replace("$STD", "(2 / parameter[0].numel()) ** 0.5"),
            "drawn for rectifiers": FOUND.replace("normal_(parameter, std=$STD)", "kaiming_uniform_(parameter, a=1.0)"),
        },
    ),
    pretences=instead(
        FOUND,
        {
            "twice as large": FOUND.replace("$STD", "2 * $STD"),
            "even instead of normal": FOUND.replace(
                "normal_(parameter, std=$STD)", "uniform_(parameter, -2 * $STD, 2 * $STD)"
            ),
            "biases as small": FOUND.replace("zeros_(parameter)", "normal_(parameter, std=$STD)"),
        },
    ),
    shown_by=("gradient_health", "loss_curve"),
    hints=(
        "Does the answer depend on the input at all, at the start?",
        "Print the spread of what each layer gives out, at the first batch. How does it go on from layer to layer?",
        "Look at what is done with the parameters before the optimiser is built.",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/zero_weights",
            "Print the gradient's norm of the first layer: is it tiny, or exactly zero?",
            "It is tiny, and it grows.",
            "It is zero, and stays zero.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the spread of each layer's outputs for the first batch, from the first to the last one.",
            "It shrinks a hundred times at every layer.",
            "It is as usual.",
        ),
    ),
    sources=("https://arxiv.org/abs/1502.01852", "https://proceedings.mlr.press/v9/glorot10a.html"),
)
