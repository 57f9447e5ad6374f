"""The first loss is enormous, and the training spends its time on getting it down to where others begin."""

from bugzoo.faults.idioms import ACTIVATED, LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import before, instead, rewrite

LOOP = "for parameter in $MODEL.parameters():\n    parameter.data.mul_($factor)"
FOUND = LOOP.replace("$factor", "$FACTOR")

FAULT = Fault(
    title="Weights begin many times too large",
    level=3,
    symptom="degraded",
    params={"factor": Param(40.0, 30.0, 1000.0, "times the size that layers draw by themselves")},
    edits=before(OPTIMIZER, LOOP, given=ACTIVATED),
    not_on={
        "finetune": "it ends with a lower loss than its healthy twin on 2 of 5 seeds, measured.",
        "modular_addition": "one hidden layer has no layers between which anything could grow.",
    },
    evidence=("activation_stats.inner_growth > 10",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Each layer multiplies what it gets: 40 times the weights in three layers are 64,000 times the outputs. Logits that far "
        "apart make the network certain of nonsense, the first loss is thousands of nats where guessing costs 2.3, and steps of "
        "0.001 take long to undo weights of that size."
    ),
    fix="Leave the layers' own initialisation, or draw with a standard deviation of sqrt(2 / inputs) behind a ReLU (He et al.).",
    repairs=instead(
        FOUND,
        {
            "taken out": "",
            "the usual size": "for parameter in $MODEL.parameters():\n    parameter.data.mul_(1.0)",
            "drawn for rectifiers": (
                "for parameter in $MODEL.parameters():\n    if parameter.dim() > 1:\n"
                '        torch.nn.init.kaiming_normal_(parameter, nonlinearity="relu")'
            ),
        },
    ),
    pretences={
        "higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)"),
    }
    | instead(
        FOUND,
        {
            "half of it": "for parameter in $MODEL.parameters():\n    parameter.data.mul_($FACTOR / 2)",
            "only the weights": LOOP.replace(
                "    parameter.data.mul_($factor)", "    if parameter.dim() > 1:\n        parameter.data.mul_($FACTOR)"
            ),
            "clamped": f"{FOUND}\nfor parameter in $MODEL.parameters():\n    parameter.data.clamp_(-1.5, 1.5)",
        },
    ),
    shown_by=("initial_loss", "gradient_health"),
    hints=(
        "Which loss has somebody who knows nothing, and which does this run begin with?",
        "Print the spread of what each layer gives out, at the first batch. How does it go on from layer to layer?",
        "Look at what is done with the parameters before the optimiser is built.",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/confident_head",
            "Print the spread of each layer's outputs for the first batch, from the first to the last one.",
            "It grows from layer to layer: `activation_stats.inner_growth > 10`.",
            "It is as usual up to the last one: `activation_stats.inner_growth < 10`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the loss of the very first batch, before any step was made.",
            "It is far too high already: `activation_stats.inner_growth > 10`.",
            "It is what guessing costs: `activation_stats.inner_growth < 10`.",
        ),
        LookAlike(
            "loss/sum_reduction",
            "Train with a batch of half the size, and look at the first loss.",
            "It stays what it was.",
            "It is half of what it was.",
        ),
    ),
    sources=("https://arxiv.org/abs/1502.01852", "https://proceedings.mlr.press/v9/glorot10a.html"),
)
