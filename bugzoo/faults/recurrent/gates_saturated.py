"""The loss stays at a guess, as if the recurrent part were not there. No gradient is missing and no rate is wrong."""

from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER, RECURRENT
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import before, instead, rewrite

LOOP = (
    "for name, parameter in $MODEL.lstm.named_parameters():\n"
    '    if "bias" in name:\n        nn.init.constant_(parameter, {})'
)
FOUND = LOOP.format("$BIAS")
FORGET = "nn.init.zeros_(parameter)\n        parameter.data[hidden_size : 2 * hidden_size] = {}"

FAULT = Fault(
    title="The gates of the LSTM begin shut",
    level=3,
    symptom="plateau",
    params={"bias": Param(-10.0, -50.0, -8.0, "with which each gate begins; an LSTM has two biases, which add up")},
    edits=before(OPTIMIZER, LOOP.format("$bias"), given=RECURRENT),
    evidence=("activation_stats.saturated_share > 0.75",),
    effect="metrics.loss > healthy",
    why=(
        "A gate is a sigmoid, and sigmoid(-20) is 2e-9: nothing is let in, nothing is kept and nothing put out. Its slope is as "
        "small, so that the gradient that would open it does not arrive. The same number in the forget gate alone, and "
        "of the other sign, is good advice: a bias of 1 lets an LSTM remember from the first step on."
    ),
    fix="Leave the biases as the layer draws them, or set those of the forget gate alone, to about 1.",
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
        "Which part of the model has learnt anything? Compare the weights before and after.",
        "Take one sentence through the recurrent layer and print what it gives out, word by word.",
        "Read what is done with the parameters between the model and the optimiser.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Print what the recurrent layer gives out for one sentence.",
            "Next to nothing, whatever the words: `activation_stats.saturated_share > 0.75`.",
            "Ordinary numbers: `activation_stats.saturated_share < 0.75`.",
        ),
        LookAlike(
            "data/everything_unknown",
            "Print the numbers of a few sentences as they go into the model.",
            "They differ from word to word: `train_validation_overlap.shared < 0.4`.",
            "They are all alike: `train_validation_overlap.shared > 0.4`.",
        ),
    ),
    sources=("https://proceedings.mlr.press/v37/jozefowicz15.html",),
)
