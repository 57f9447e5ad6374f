"""The loss falls as it should; then a single step shoots up, and it takes a while until all is as good as it had been."""

from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead

SPOILT = "if step == $STEP:\n    inputs = inputs * 255"

FAULT = Fault(
    title="A batch in another unit",
    level=4,
    symptom="degraded",
    edits=Swap(
        "optimizer.zero_grad()",
        "if step == $step:\n    inputs = inputs * 255\noptimizer.zero_grad()",
        where="torch.tensor($DATA, dtype=torch.float32) / 16",
    ),
    params={"step": Param(60, 40, 70, "the step whose batch comes as it was stored, 255 times as large")},
    not_on={
        "data_parallel": "a rank's share of the batch stands out on 4 of 5 seeds only, measured.",
        "finetune": "no spike stands out on 4 of 5 seeds, measured.",
        "checkpointed_mlp": "no spike stands out on 1 of 5 seeds, measured.",
    },
    evidence=("loss_spikes.spikes > 0.5",),
    effect="loss_spikes.height > healthy",
    why=(
        "One batch was not scaled: its pictures reach 255 and not 1. The logits of a network without normalisation grow with its "
        "input, so that every wrong answer costs a hundred times as much, and the gradient of that one step is as much larger. "
        "Adam's step is bounded, but its mean of squared gradients takes a thousand steps to forget such a number, and makes "
        "every step after it too small."
    ),
    fix="Keep the batch of such a step and look at its range; refuse what is out of range where it is loaded.",
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
        "One step sticks out. Is it the weights that are special there, or what they were given?",
        "Keep the batch of the worst step, and compare its numbers with those of an ordinary one.",
        "Read the loop from the top to the call of the model, and ask of each line what it does to the numbers.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Count the steps at which the loss is several times that of its neighbours.",
            "One, or very few: `loss_spikes.spikes > 0.5`.",
            "None: all of them swing, `loss_spikes.spikes < 0.5`.",
        ),
        LookAlike(
            "data/no_shuffle",
            "Count the classes among the targets of the batches before and after the jump.",
            "All of them: `batch_mix.mixed > 0.5`.",
            "One or two, and another one after it: `batch_mix.mixed < 0.5`.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/", "https://arxiv.org/abs/2204.02311"),
)
