"""The loss falls a little and slowly, as if the lower layers did not take part; a smaller or larger rate makes no difference."""

from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, instead, rewrite

LOOP = "for layer in ($MODEL.layer1, $MODEL.layer2):\n    nn.init.normal_(layer.weight, std={})"
FOUND = LOOP.format("$SIZE")

FAULT = Fault(
    title="A stack of tanh that begins at its bounds",
    level=3,
    symptom="degraded",
    params={"size": Param(5.0, 5.0, 100.0, "standard deviation of the weights at the start")},
    edits=(
        Swap("$H = F.relu(self.layer1(inputs))", "$H = torch.tanh(self.layer1(inputs))"),
        Swap("$H = F.relu($H)", "$H = torch.tanh($H)"),
        before(OPTIMIZER, LOOP.format("$size")),
    ),
    not_on={
        "finetune": "it ends with a lower loss than its healthy twin on 5 of 5 seeds, measured.",
    },
    evidence=("activation_stats.saturated_share > 0.9",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "What goes into a unit has the size of its weights times the root of its inputs: 5 times 11 in the second layer. There "
        "tanh is 1 or -1 to four digits, and its slope, 1 - tanh squared, next to nothing. The gradient is multiplied "
        "by that slope in each layer on its way down, so that the lower layers stay as they were drawn, and the head learns on "
        "signs."
    ),
    fix="Draw the weights with a standard deviation of about 1 / sqrt(inputs), as the layers do by themselves (Glorot).",
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
        "Which layers learn? Compare the size of the updates with that of the weights, layer by layer.",
        "Draw how the outputs of each hidden layer are spread, at the first batch.",
        "Read what is done with the layers between their making and the optimiser, and what they are followed by.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Look where the outputs of the hidden layers lie between their bounds.",
            "At the bounds, nearly all of them.",
            "Everywhere; only the steps are small.",
        ),
        LookAlike(
            "initialisation/dead_relu",
            "Count the hidden units that give exactly 0 for every sample.",
            "None does: they give 1 or -1.",
            "Nearly all do.",
        ),
        LookAlike(
            "initialisation/weights_too_large",
            "Compare the spread of the last hidden layer's outputs with that of the first one's.",
            "They are alike, both at the bounds: `activation_stats.inner_growth < 10`.",
            "It is many times larger: `activation_stats.inner_growth > 10`.",
        ),
    ),
    sources=("https://proceedings.mlr.press/v9/glorot10a.html",),
)
