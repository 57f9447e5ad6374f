"""The loss falls at first, then rises and plateaus near guessing. The outputs become the same for every input."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, OPTIMIZER
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, rewrite

GROUPS = 'for group in optimizer.param_groups:\n    group["weight_decay"] {}'

FAULT = Fault(
    title="Weight decay too strong",
    level=3,
    symptom="plateau",
    params={"decay": Param(1.0, 0.5, 100.0, "weight decay of the optimizer")},
    edits=rewrite(OPTIMIZER, LR="$LR, weight_decay=$decay"),
    not_on={
        "image_pipeline": (
            "in its few steps the weights shrink to 0.63 of their size, and the limit is 0.6 (measured)."
        ),
        "finetune": "its weights do not shrink enough for weight_size on any of 5 seeds (measured).",
        "regression_mlp": "its weights shrink to between 0.48 and 0.61 of their size, too little on 2 of 5 seeds.",
        "modular_addition": "it has a weight decay of its own, and a strong one is what makes it generalize.",
    },
    evidence=("weight_size.shrunk_to < 0.6",),
    effect="weight_size.shrunk_to < healthy",
    why=(
        "Adam adds weight_decay * weight to each gradient. With a weight decay of 1.0 and weights of 0.1, this term is "
        "0.1: ten to a thousand times the gradient of the loss. Adam divides by the size of the gradient, so the decay "
        "becomes a full step of the learning rate toward zero. The weight matrices shrink until the decay term is as "
        "small as the gradient of the loss. By then the loss is near that of guessing."
    ),
    fix=(
        "Use a weight decay of 1e-4 to 1e-2, or none. Use AdamW (decoupled weight decay) if the decay should not "
        "depend on the gradient."
    ),
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
    free=("update",),
    shown_by=("gradient_health", "overfit_one_batch"),
    hints=(
        (
            "Print the norm of each weight matrix after every epoch. How does the norm compare with its value at the "
            "start?"
        ),
        "The gradients of the loss have their usual size. What else moves a weight in optimizer.step()?",
        "Read every argument of the optimizer. For each argument, work out what it does to a weight of 0.1.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Compare the norms of the weight matrices before and after training.",
            "The norms are a fraction of what they were: `weight_size.shrunk_to < 0.6`.",
            "The norms are about what they were: `weight_size.shrunk_to > 0.6`.",
        ),
        LookAlike(
            "fit/capacity_too_small",
            "Print the norm of every weight matrix at the start and at the end of training.",
            "The norms have shrunk.",
            "The norms have grown.",
        ),
        LookAlike(
            "initialisation/weights_too_small",
            "Print the norm of every weight matrix before the very first optimizer step.",
            "The norms have their usual size, and shrink from there.",
            "The norms are far too small already.",
        ),
    ),
    sources=("https://arxiv.org/abs/1711.05101",),
    cause=Cause(words.REGULARIZATION, also=("weight decay", "regularisation", "regularization")),
    terms=("weight decay", "underfitting", "regularization"),
)
