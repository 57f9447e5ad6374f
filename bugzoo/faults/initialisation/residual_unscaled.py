"""Since the model got deeper, with skip connections, its first loss is in the hundreds. The run never recovers."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead, rewrite

LOOP = "for _ in range({}):\n    $H = $H + F.relu(self.layer2($X))"
FOUND = LOOP.format("$DEPTH")

FAULT = Fault(
    title="Residual branches not scaled by depth",
    level=3,
    symptom="degraded",
    params={"depth": Param(24, 20, 64, "how often the branch is added")},
    edits=Swap("$H = self.layer2($X)\n$H = F.relu($H)", LOOP.format("$depth")),
    not_on={
        "finetune": (
            "small batches and a high learning rate make up for it: its final loss is below the healthy one on 5 of 5 "
            "seeds (measured)."
        )
    },
    evidence=("activation_stats.inner_growth > 10",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Each residual layer adds a branch about a third as large as its input, so its output is a third larger. After "
        "24 layers the activations are 1.33^24, about a thousand times, as large. Skip connections keep gradients from "
        "vanishing, but they do not keep activations from growing. The first logits are a thousand times too far "
        "apart, and the first loss grows with them."
    ),
    fix=(
        "Scale each branch down with the depth: 1 / sqrt(2 * layers) if each layer has its own weights, as in GPT-2. "
        "Or initialize the last layer of each branch with zeros, or normalize."
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
        (
            "Is the loss of the very first batch that of guessing? The model has not learned anything by then, right "
            "or wrong."
        ),
        "Print the standard deviation of each layer's outputs for the first batch. Divide each one by the one before.",
        "If every layer makes its input a little larger, how large is the output after all layers?",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/confident_head",
            "Print the standard deviation of each layer's outputs for the first batch, in order.",
            "The standard deviation grows from layer to layer: `activation_stats.inner_growth > 10`.",
            "The standard deviation is normal up to the last layer: `activation_stats.inner_growth < 10`.",
        ),
        LookAlike(
            "initialisation/weights_too_large",
            "Print the standard deviation of each weight matrix before the first step.",
            "The standard deviation is that of the default initialization.",
            "The standard deviation is many times that of the default initialization.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the loss of the very first batch, before the first optimizer step.",
            "The first loss is far too high already: `activation_stats.inner_growth > 10`.",
            "The first loss is that of guessing: `activation_stats.inner_growth < 10`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1901.09321", "https://github.com/karpathy/minGPT/issues/134"),
    terms=("exploding gradients", "residual connection"),
)
