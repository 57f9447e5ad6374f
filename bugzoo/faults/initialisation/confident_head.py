"""The first losses are many times what guessing costs, and the first epoch goes into bringing them down."""

from bugzoo.faults.idioms import HEAD, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import after, instead, rewrite

LINE = "self.head.weight.data.mul_($FACTOR)"

FAULT = Fault(
    title="A last layer that begins certain of its answers",
    level=2,
    symptom="degraded",
    params={"factor": Param(500.0, 300.0, 10_000.0, "times the weights that the last layer draws by itself")},
    edits=after(HEAD, "$RESULT.weight.data.mul_($factor)"),
    not_on={"regression_mlp": "its loss is no cross-entropy, so that there is no ln C to begin at."},
    evidence=("initial_loss.ratio > 8",),
    effect="initial_loss.ratio > healthy",
    why=(
        "Who knows nothing should say so: equal probabilities, a loss of ln C, 2.3 nats for ten classes. Large weights in the "
        "last layer give logits that lie far apart, so that it is certain from the first batch on, mostly of the wrong class, "
        "and pays the distance in nats. The curve begins with a steep fall that teaches "
        "nothing but modesty. In mlp the end is no worse for it: what it costs are the first steps."
    ),
    fix="Leave the last layer's own initialisation, or make it smaller: small weights or zeros there give exactly ln C.",
    repairs=instead(
        LINE,
        {
            "taken out": "",
            "smaller instead": "self.head.weight.data.mul_(0.1)",
            "zeros": "nn.init.zeros_(self.head.weight)",
        },
    ),
    pretences=instead(
        LINE,
        {
            "half of it": "self.head.weight.data.mul_($FACTOR / 2)",
            "the bias too": f"{LINE}\nself.head.bias.data.mul_($FACTOR)",
            "the other sign": "self.head.weight.data.mul_(-$FACTOR)",
        },
    )
    | {"three times the rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)")},
    shown_by=("gradient_health", "loss_curve"),
    hints=(
        "Which loss has somebody who knows nothing, and which does this run begin with?",
        "Print the probabilities for the first batch, before any training. How sure is the model?",
        "Follow the spread of the outputs from layer to layer: where does it become large?",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/weights_too_large",
            "Print the spread of each layer's outputs for the first batch, from the first to the last one.",
            "It is as usual up to the last one: `activation_stats.inner_growth < 10`.",
            "It grows from layer to layer: `activation_stats.inner_growth > 10`.",
        ),
        LookAlike(
            "loss/sum_reduction",
            "Train with a batch of half the size, and look at the first loss.",
            "It stays what it was.",
            "It is half of what it was.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the loss of the very first batch, before any step was made.",
            "It is far too high already: `initial_loss.ratio > 8`.",
            "It is what guessing costs: `initial_loss.ratio < 8`.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/",),
)
