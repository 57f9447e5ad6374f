"""The loss falls as it should, then spikes in a single step and needs a while to recover."""

from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead

SPOILT = "if step == $STEP:\n    inputs = inputs * 255"

FAULT = Fault(
    title="One batch with unscaled inputs (0-255)",
    level=4,
    symptom="degraded",
    edits=Swap(
        "optimizer.zero_grad()",
        "if step == $step:\n    inputs = inputs * 255\noptimizer.zero_grad()",
        where="torch.tensor($DATA, dtype=torch.float32) / 16",
    ),
    params={"step": Param(60, 40, 70, "step whose batch is not scaled, so that its inputs are 255 times too large")},
    not_on={
        "data_parallel": "in one rank's part of the batch the spike is clear on 4 of 5 seeds only (measured).",
        "finetune": "the loss has no clear spike on 4 of 5 seeds (measured).",
        "checkpointed_mlp": "the loss has no clear spike on 1 of 5 seeds (measured).",
    },
    evidence=("loss_spikes.spikes > 0.5",),
    effect="loss_spikes.height > healthy",
    why=(
        "One batch was not scaled: its pixels reach 255 instead of 1. Without normalization layers, the logits grow "
        "with the inputs. Each wrong prediction then costs a hundred times as much, and the gradient of that step "
        "grows as much. Adam's step size is bounded, but its second moment (the running mean of squared gradients) "
        "needs a thousand steps to forget such a gradient. Until then, every step is too small."
    ),
    fix=(
        "Save the batch of that step and check its range. Reject a batch with values out of range where the data is "
        "loaded."
    ),
    repairs=instead(
        SPOILT,
        {
            "held to its range": f"{SPOILT}\n    inputs = inputs / 255",
            "brought back": f"{SPOILT}\ninputs = inputs / inputs.amax().clamp(min=1)",
            "looked at": f"kept = inputs\n{SPOILT}\nif inputs.amax() > 1:\n    inputs = kept",
        },
    ),
    pretences=instead(
        SPOILT,
        {
            "one step later": "if step == $STEP + 1:\n    inputs = inputs * 255",
            "put off": "if step == $STEP + 5000:\n    inputs = inputs * 255",
        },
    )
    | {
        "clipped": Swap(
            "optimizer.step()", "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\noptimizer.step()"
        ),
    },
    hints=(
        "Find the step where the loss spikes. Are the weights unusual at that step, or is the input of the model?",
        "Save the batch of that step. Compare its min, max and mean with those of an ordinary batch.",
        "Read the training loop from the top to `model(inputs)`. What does each line do to the values of `inputs`?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Count the steps whose loss is several times as large as in the steps around them.",
            "Only one step or a few steps stick out: `loss_spikes.spikes > 0.5`.",
            "No single step sticks out, because the loss swings at all steps: `loss_spikes.spikes < 0.5`.",
        ),
        LookAlike(
            "data/no_shuffle",
            "Count the classes among the targets of the batches before and after the spike.",
            "Each batch holds all classes: `batch_order.mixed > 0.5`.",
            "Each batch holds one or two classes, and another class comes after the spike: `batch_order.mixed < 0.5`.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/", "https://arxiv.org/abs/2204.02311"),
    terms=("loss curve", "batch"),
    beside={"mlp": ("memory/losses_kept_with_graph",)},
)
