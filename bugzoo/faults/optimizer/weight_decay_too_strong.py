"""The loss begins to fall, turns round and settles near guessing, and the answers become the same for every input."""

from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, rewrite

GROUPS = 'for group in optimizer.param_groups:\n    group["weight_decay"] {}'

FAULT = Fault(
    title="Weight decay that is stronger than the data",
    level=3,
    symptom="plateau",
    params={"decay": Param(1.0, 0.5, 100.0, "weight decay of the optimiser")},
    edits=rewrite(OPTIMIZER, LR="$LR, weight_decay=$decay"),
    not_on={
        "image_pipeline": "in its few steps the weights shrink to 0.63 of what they were, and 0.6 is the limit, measured.",
        "finetune": "its weights do not shrink enough for weight_size on any of 5 seeds, measured.",
        "regression_mlp": "its weights shrink to 0.48 to 0.61 of what they were, too little on 2 of 5 seeds.",
        "modular_addition": "it has a weight decay of its own, and a strong one is what makes it generalise.",
    },
    evidence=("weight_size.shrunk_to < 0.6",),
    effect="weight_size.shrunk_to < healthy",
    why=(
        "Adam adds decay times weight to each gradient. With a decay of 1.0 and weights of 0.1 that is 0.1 for every number, ten "
        "to a thousand times what the loss has to say, and dividing by the size of the gradient makes it a full step of the "
        "learning rate towards zero. The matrices shrink until a gradient as small as theirs holds against it: near guessing."
    ),
    fix="Weight decay of 1e-4 to 1e-2, decoupled (AdamW) where it should not depend on the gradient, or none.",
    repairs={
        "taken away afterwards": after(OPTIMIZER, GROUPS.format("= 0.0")),
        "very little": after(OPTIMIZER, GROUPS.format("= 1e-6")),
        "before the training": Swap("losses = []", f"losses = []\n{GROUPS.format('= 0')}"),
    },
    pretences={
        "half of it": after(OPTIMIZER, GROUPS.format("/= 2")),
        "later": Swap(
            "step += 1", f"step += 1\nif step == 80:\n    {GROUPS.format('= 0').replace(chr(10), chr(10) + '    ')}"
        ),
        "a higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 5)"),
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 5)"),
    },
    shown_by=("gradient_health", "overfit_one_batch"),
    hints=(
        "How large are the weights after each epoch, compared with the start?",
        "The gradients of the loss are as usual. What else moves a weight in a step?",
        "Read all arguments of the optimiser, and say for each one what it does to a weight of 0.1.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Compare the size of the weight matrices before and after the training.",
            "They are a part of what they were: `weight_size.shrunk_to < 0.6`.",
            "They are as before: `weight_size.shrunk_to > 0.6`.",
        ),
        LookAlike(
            "fit/capacity_too_small",
            "Compare the size of the weight matrices at the start and at the end of the training.",
            "They have shrunk.",
            "They have grown.",
        ),
        LookAlike(
            "initialisation/weights_too_small",
            "Look at the size of the weight matrices before the very first step.",
            "It is as usual, and goes down from there.",
            "It is far too small already.",
        ),
    ),
    sources=("https://arxiv.org/abs/1711.05101",),
)
