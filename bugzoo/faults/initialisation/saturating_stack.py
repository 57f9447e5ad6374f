"""The loss falls slowly and only a little, as if the lower layers did not learn. The learning rate does not matter."""

from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, instead, rewrite

LOOP = "for layer in ($MODEL.layer1, $MODEL.layer2):\n    nn.init.normal_(layer.weight, std={})"
FOUND = LOOP.format("$SIZE")

FAULT = Fault(
    title="Saturated tanh from large initial weights",
    level=3,
    symptom="degraded",
    params={"size": Param(5.0, 5.0, 100.0, "standard deviation of the initial weights")},
    edits=(
        Swap("$H = F.relu(self.layer1(inputs))", "$H = torch.tanh(self.layer1(inputs))"),
        Swap("$H = F.relu($H)", "$H = torch.tanh($H)"),
        before(OPTIMIZER, LOOP.format("$size")),
    ),
    not_on={
        "finetune": "its final loss is below that of its healthy twin on 5 of 5 seeds (measured).",
    },
    evidence=("activation_stats.saturated_share > 0.9",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "The input of a unit has about the size of its weights times sqrt(inputs): 5 times 11 in the second layer. "
        "There tanh is 1 or -1 to four digits, and its slope, 1 - tanh squared, is nearly zero. Backpropagation "
        "multiplies the gradient by this slope in each layer. So the lower layers keep their random weights, and the "
        "head only sees signs."
    ),
    fix=(
        "Initialize the weights with a standard deviation of about 1 / sqrt(inputs): Glorot (Xavier) initialization, "
        "or the layers' default."
    ),
    repairs=instead(
        FOUND,
        {
            "taken out": "",
            "as Glorot says": LOOP.replace("normal_", "xavier_uniform_").replace(", std={}", ""),
            "by the root of the inputs": LOOP.format("layer.in_features**-0.5"),
        },
    ),
    pretences=instead(
        FOUND,
        {
            "a little smaller": LOOP.format("0.95 * $SIZE"),
            "the biases too": f"{FOUND}\n    nn.init.zeros_(layer.bias)",
        },
    )
    | {"higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)")},
    own_forward=True,
    shown_by=("gradient_health", "parameter_audit"),
    hints=(
        "Which layers learn? For each layer, divide the size of one update by the size of the weights.",
        "Plot a histogram of each hidden layer's outputs for the first batch.",
        (
            "Read the lines between creating the model and creating the optimizer. Which activation follows the layers "
            "that these lines change?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Plot a histogram of the hidden layers' outputs: how many are at their bounds?",
            "Nearly all outputs are at the bounds.",
            "The outputs are spread over the whole range. Only the updates are small.",
        ),
        LookAlike(
            "initialisation/dead_relu",
            "Count the hidden units that output exactly 0 for every sample.",
            "No unit outputs 0: all of them output 1 or -1.",
            "Nearly all units output 0 for every sample.",
        ),
        LookAlike(
            "initialisation/weights_too_large",
            "Compare the standard deviation of the first and the last hidden layer's outputs.",
            "The two are alike, with both layers at their bounds: `activation_stats.inner_growth < 10`.",
            "The last layer's standard deviation is many times larger: `activation_stats.inner_growth > 10`.",
        ),
    ),
    sources=("https://proceedings.mlr.press/v9/glorot10a.html",),
    terms=("saturation", "vanishing gradients", "fan-in"),
)
