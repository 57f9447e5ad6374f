"""Made deeper with skip connections, as one should, it begins with a loss of some hundreds and never makes up for it."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead, rewrite

LOOP = "for _ in range({}):\n    $H = $H + F.relu(self.layer2($X))"
FOUND = LOOP.format("$DEPTH")

FAULT = Fault(
    title="Residual branches that add up without a scale",
    level=3,
    symptom="degraded",
    params={"depth": Param(24, 20, 64, "how often the branch is added")},
    edits=Swap("$H = self.layer2($X)\n$H = F.relu($H)", LOOP.format("$depth")),
    not_on={
        "finetune": "its small batches and high rate make up for it: it ends with a lower loss than the healthy one on 5 of 5 "
        "seeds, measured."
    },
    evidence=("activation_stats.inner_growth > 10",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "A sum of what comes in and of a branch that is a third as large is a third larger. That is nothing for one layer; 24 "
        "of them make 1.33 to the 24th power, about a thousand times. Skip connections keep the gradient from vanishing, they do "
        "not keep the sum from growing. The logits begin a thousand times too far apart, and so does the first loss."
    ),
    fix=(
        "Scale each branch down by the depth (1 / sqrt(2 * layers) where each layer has weights of its own, as GPT-2 does), "
        "begin its last layer at zero, or normalise."
    ),
    repairs=instead(
        FOUND,
        {
            "by the depth": f"{FOUND} / $DEPTH",
            "normalised": "for _ in range($DEPTH):\n    $H = F.layer_norm($H + F.relu(self.layer2($X)), $H.shape[-1:])",
            "once": "$H = $H + F.relu(self.layer2($X))",
        },
    ),
    pretences=instead(
        FOUND,
        {
            "half a branch": f"{FOUND} / 2",
            "squashed behind it": f"{FOUND}\n$H = torch.tanh($H)",
            "one less": FOUND.replace("$DEPTH", "$DEPTH - 1"),
        },
    )
    | {"a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 5)")},
    own_forward=True,
    shown_by=("initial_loss", "gradient_health", "loss_curve"),
    hints=(
        "Is the loss of the very first batch what guessing costs? Nothing has been learnt by then, right or wrong.",
        "Print the spread of what each layer gives out, at the first batch, and divide each by the one before.",
        "If every layer makes what it gets a little larger, how large is it behind all of them?",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/confident_head",
            "Print the spread of each layer's outputs for the first batch, from the first to the last one.",
            "It grows from layer to layer: `activation_stats.inner_growth > 10`.",
            "It is as usual up to the last one: `activation_stats.inner_growth < 10`.",
        ),
        LookAlike(
            "initialisation/weights_too_large",
            "Print the spread of each weight matrix before the first step.",
            "It is as the layers draw it by themselves.",
            "It is many times that.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the loss of the very first batch, before any step was made.",
            "It is far too high already: `activation_stats.inner_growth > 10`.",
            "It is what guessing costs: `activation_stats.inner_growth < 10`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1901.09321", "https://github.com/karpathy/minGPT/issues/134"),
)
