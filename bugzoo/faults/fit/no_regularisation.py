"""Training accuracy is perfect. Validation accuracy stays at about one half, to the last epoch."""

from bugzoo.faults import words
from bugzoo.faults.idioms import EPOCHS, LEARNING_RATE
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import rewrite

MADE = "torch.optim.AdamW($P, lr=$LR, weight_decay={})"
FOUND = MADE.format("$D")

FAULT = Fault(
    title="Overfitting: AdamW without weight decay",
    level=2,
    symptom="degraded",
    params={
        "decay": Param(
            0.0, 0.0, 0.01, ("weight_decay of AdamW: each step removes this share of a weight, times the learning rate")
        )
    },
    edits=Swap(FOUND, MADE.format("$decay")),
    settings={"share": 0.5},
    evidence=("generalisation.gap > 0.35",),
    effect="metrics.accuracy < healthy",
    why=(
        "Half of the 2809 pairs are training data, and 15,000 weights can memorize each of them. With a training "
        "loss near 0, the gradient is near 0 too, and the memorized solution stays. Weight decay continues to shrink "
        "the weights. The rule needs smaller weights than the memorized list, so weight decay favors the rule. "
        "Without weight decay 50 of 100 new pairs are right, with weight decay 99."
    ),
    fix=(
        "Pass `weight_decay=weight_decay` to AdamW, or use dropout or more data. Always plot training and validation "
        "accuracy together."
    ),
    repairs={
        "in its group": Swap(FOUND, 'torch.optim.AdamW([{"params": list($P), "weight_decay": weight_decay}], lr=$LR)'),
        "by hand": Swap(
            "step += 1",
            "with torch.no_grad():\n    for parameter in model.parameters():\n"
            "        parameter *= 1 - learning_rate * weight_decay\nstep += 1",
        ),
        "set behind it": Swap("step = 0", 'optimizer.param_groups[0]["weight_decay"] = weight_decay\nstep = 0'),
    },
    pretences={
        "a little of it": Swap(FOUND, MADE.format("1e-3")),
        "into the gradient of Adam": Swap(FOUND, "torch.optim.Adam($P, lr=$LR, weight_decay=1e-4)"),
        "stopped early": rewrite(EPOCHS, COUNT="20"),
        "lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 10)"),
    },
    free=("update",),
    shown_by=("loss_curve", "weight_size"),
    hints=(
        "Plot training accuracy and validation accuracy together. Which of the two have you looked at so far?",
        "Plot the norm of the parameters over the steps. What keeps the norm small?",
        "Read the line that builds the optimizer. Compare each argument with the Settings section.",
    ),
    look_alikes=(
        LookAlike(
            "data/ordered_split",
            "Count how often each class occurs in the training set and in the validation set.",
            "Each class occurs about equally often in both sets.",
            "Some classes occur in one of the two sets only.",
        ),
        LookAlike(
            "optimizer/weight_decay_too_strong",
            "Compare the accuracy on the training data with the accuracy on new data.",
            "Training accuracy is perfect, and validation accuracy is half of that.",
            "Both accuracies are low and about the same.",
        ),
    ),
    sources=("https://arxiv.org/abs/1711.05101", "https://arxiv.org/abs/2201.02177"),
    cause=Cause(words.REGULARIZATION, also=("overfitting", "overfit", "no regularization")),
    terms=("generalization gap", "overfitting", "regularization", "early stopping", "weight decay"),
)
