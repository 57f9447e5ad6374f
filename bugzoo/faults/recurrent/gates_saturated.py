"""The loss plateaus at chance level, as if the LSTM were missing. Every parameter has a gradient. The learning rate is fine."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER, RECURRENT
from bugzoo.faults.model import Cause, Fault, LookAlike, Param
from bugzoo.faults.verbs import before, instead, rewrite

LOOP = (
    "for name, parameter in $MODEL.lstm.named_parameters():\n"
    '    if "bias" in name:\n        nn.init.constant_(parameter, {})'
)
FOUND = LOOP.format("$BIAS")
FORGET = "nn.init.zeros_(parameter)\n        parameter.data[hidden_size : 2 * hidden_size] = {}"

FAULT = Fault(
    title="LSTM gate biases initialized to a large negative value",
    level=3,
    symptom="plateau",
    params={
        "bias": Param(-10.0, -50.0, -8.0, "initial bias of every gate. An LSTM has two bias vectors, which add up")
    },
    edits=before(OPTIMIZER, LOOP.format("$bias"), given=RECURRENT),
    evidence=("activation_stats.saturated_share > 0.75",),
    effect="metrics.loss > healthy",
    why=(
        "Each LSTM gate is a sigmoid. Two biases of -10 add up to -20, and sigmoid(-20) is 2e-9. The gates let almost "
        "nothing in, keep almost nothing and output almost nothing. The slope of the sigmoid is just as small, so the "
        "gradient that would open the gates does not arrive. A positive bias in the forget gate alone is good advice: "
        "with a bias of 1, an LSTM remembers from the first step."
    ),
    fix="Keep the default initialization of the biases. Or set only the biases of the forget gate, to about 1.",
    repairs=instead(
        FOUND,
        {
            "taken out": "",
            "zeros": LOOP.format("0.0"),
            "open to remember": LOOP.replace("nn.init.constant_(parameter, {})", FORGET.format("0.5")),
        },
    ),
    pretences=instead(
        FOUND,
        {
            "of the other sign": LOOP.format("-$BIAS"),
            "half as far": LOOP.format("$BIAS / 1.5"),
            "only the first layer": LOOP.replace('"bias" in name', '"bias" in name and name.endswith("0")').format(
                "$BIAS"
            ),
        },
    )
    | {"higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)")},
    shown_by=("parameter_audit", "gradient_health", "loss_curve"),
    hints=(
        "Which layers have learned anything? Copy the weights before training and compare them after.",
        "Pass one sentence through the recurrent layer and print its output word by word. How big are the values?",
        "Read every line between the model and the optimizer. What does each line do to the parameters?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Print the output of the recurrent layer for one sentence, word by word.",
            "The outputs are close to zero for every word: `activation_stats.saturated_share > 0.75`.",
            "The outputs have ordinary sizes: `activation_stats.saturated_share < 0.75`.",
        ),
        LookAlike(
            "data/everything_unknown",
            "Print the token ids of a few sentences right before the forward pass.",
            "The token ids differ from word to word: `train_validation_overlap.shared < 0.4`.",
            "All words have the same token id: `train_validation_overlap.shared > 0.4`.",
        ),
    ),
    sources=("https://proceedings.mlr.press/v37/jozefowicz15.html",),
    cause=Cause(words.INITIALIZATION),
    terms=("saturation", "vanishing gradients"),
)
