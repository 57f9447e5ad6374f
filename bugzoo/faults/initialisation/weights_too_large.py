"""The first loss is enormous. The run spends its time on bringing the loss down to where other runs begin."""

from bugzoo.faults.idioms import ACTIVATED, LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import before, instead, rewrite

LOOP = "for parameter in $MODEL.parameters():\n    parameter.data.mul_($factor)"
FOUND = LOOP.replace("$factor", "$FACTOR")

FAULT = Fault(
    title="Weights initialized too large",
    level=3,
    symptom="degraded",
    params={"factor": Param(40.0, 30.0, 1000.0, "multiple of the layers' default weights")},
    edits=before(OPTIMIZER, LOOP, given=ACTIVATED),
    not_on={
        "finetune": "its final loss is below that of its healthy twin on 2 of 5 seeds (measured).",
        "modular_addition": "it has one hidden layer, so nothing can grow from one hidden layer to the next.",
    },
    evidence=("activation_stats.inner_growth > 10",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Each layer multiplies its input. Weights that are 40 times too large in three layers give outputs that are "
        "64,000 times too large. Logits that far apart make the model certain of wrong classes. The first loss is "
        "thousands of nats, where the loss of guessing is 2.3. Steps of 0.001 need a long time to undo weights of that size."
    ),
    fix=(
        "Leave the layers' default initialization, or use Kaiming (He) initialization for ReLU: a standard deviation "
        "of sqrt(2 / inputs)."
    ),
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
        "Compute the loss of guessing, ln C for C classes. How does the first loss of this run compare?",
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
            "initialisation/confident_head",
            "Print the standard deviation of each layer's outputs for the first batch, in order.",
            "The standard deviation grows from layer to layer: `activation_stats.inner_growth > 10`.",
            "The standard deviation is normal up to the last layer: `activation_stats.inner_growth < 10`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the loss of the very first batch, before the first optimizer step.",
            "The first loss is far too high already: `activation_stats.inner_growth > 10`.",
            "The first loss is that of guessing: `activation_stats.inner_growth < 10`.",
        ),
        LookAlike(
            "loss/sum_reduction",
            "Train with half as many rows per batch, and compare the first loss of both runs.",
            "The first loss is the same.",
            "The first loss of the new run is half as large.",
        ),
    ),
    sources=("https://arxiv.org/abs/1502.01852", "https://proceedings.mlr.press/v9/glorot10a.html"),
    terms=("weight initialization", "exploding gradients", "divergence", "initial loss", "fan-in"),
)
