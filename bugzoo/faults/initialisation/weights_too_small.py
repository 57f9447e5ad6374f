"""For a long time the loss stays at the loss of guessing, and it begins to fall late in the run."""

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
    title="Weights initialized too small",
    level=4,
    symptom="degraded",
    params={"std": Param(0.001, 1e-6, 0.002, "standard deviation of the initial weights")},
    edits=before(OPTIMIZER, LOOP, given=ACTIVATED),
    not_on={
        "modular_addition": "its one hidden layer shrinks the signal to 0.007 of its size, not to nearly zero.",
    },
    evidence=("activation_stats.growth < 0.001",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Each layer multiplies its input. A usual standard deviation is sqrt(1 / inputs), about 0.1. With 0.001, the "
        "outputs of three layers are a million times too small, and all images look alike there. The gradient shrinks "
        "by the same products, so the first layer gets almost no gradient. Adam divides by the size of the gradient "
        "and recovers after some hundred steps, but SGD does not."
    ),
    fix=(
        "Leave the layers' default initialization, or use Kaiming (He) initialization for ReLU: a standard deviation "
        "of sqrt(2 / inputs)."
    ),
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
        "At the start of training, do the outputs depend on the input? Compare the logits of two different samples.",
        (
            "Print the standard deviation of each layer's outputs for the first batch. How does the value change from "
            "layer to layer?"
        ),
        (
            "Read the lines between creating the model and creating the optimizer. What do these lines do to the "
            "parameters?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "initialisation/zero_weights",
            "Print the gradient norm of the first layer: is it tiny, or exactly zero?",
            "The gradient norm is tiny, and it grows.",
            "The gradient norm is zero, and stays zero.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the standard deviation of each layer's outputs for the first batch, in order.",
            "The standard deviation shrinks a hundred times at every layer.",
            "The standard deviation has its usual size at every layer.",
        ),
    ),
    sources=("https://arxiv.org/abs/1502.01852", "https://proceedings.mlr.press/v9/glorot10a.html"),
    terms=("vanishing gradients", "fan-in", "weight initialization"),
)
