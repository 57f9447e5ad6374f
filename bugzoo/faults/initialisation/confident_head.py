"""The first losses are many times the loss of guessing. The first epoch goes into bringing them down."""

from bugzoo.faults.idioms import HEAD, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import after, instead, rewrite

LINE = "self.head.weight.data.mul_($FACTOR)"

FAULT = Fault(
    title="Output layer initialized too large",
    level=2,
    symptom="degraded",
    params={"factor": Param(500.0, 300.0, 10_000.0, "multiple of the last layer's default weights")},
    edits=after(HEAD, "$RESULT.weight.data.mul_($factor)"),
    not_on={"regression_mlp": "its loss is not a cross-entropy, so the first loss has no expected value of ln C."},
    evidence=("initial_loss.ratio > 8",),
    effect="initial_loss.ratio > healthy",
    why=(
        "An untrained classifier should give equal probabilities: a loss of ln C, which is 2.3 nats for ten classes. "
        "Large weights in the last layer give logits that are far apart. The model is then certain from the first "
        "batch on, mostly of the wrong class, and the cross-entropy is high. The loss curve begins with a steep fall "
        "that only makes the logits smaller. In mlp the final loss is no worse: only the first steps are lost."
    ),
    fix=(
        "Leave the last layer's default initialization, or make its weights smaller. Small weights or zeros give a "
        "first loss of ln C."
    ),
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
        "Compute the loss of guessing, ln C for C classes. How does the first loss of this run compare?",
        "Print the softmax probabilities of the first batch, before any training. How certain is the model?",
        "Print the standard deviation of the outputs, layer by layer. At which layer do the outputs become large?",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/weights_too_large",
            "Print the standard deviation of each layer's outputs for the first batch, in order.",
            "The standard deviation is normal up to the last layer: `activation_stats.inner_growth < 10`.",
            "The standard deviation grows from layer to layer: `activation_stats.inner_growth > 10`.",
        ),
        LookAlike(
            "loss/sum_reduction",
            "Train with half as many rows per batch, and compare the first loss of both runs.",
            "The first loss is the same.",
            "The first loss of the new run is half as large.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the loss of the very first batch, before the first optimizer step.",
            "The first loss is far too high already: `initial_loss.ratio > 8`.",
            "The first loss is that of guessing: `initial_loss.ratio < 8`.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/",),
    terms=("initial loss", "weight initialization", "logits"),
    beside={
        "mlp": (
            "loop/stale_gradients",
            "data/labels_out_of_sync",
            "loop/stale_gradients + memory/losses_kept_with_graph",
        )
    },
)
