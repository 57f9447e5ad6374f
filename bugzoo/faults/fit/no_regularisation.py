"""Everything that was trained on is answered right, and of what is new only every second, to the last epoch."""

from bugzoo.faults.idioms import EPOCHS, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import rewrite

MADE = "torch.optim.AdamW($P, lr=$LR, weight_decay={})"
FOUND = MADE.format("$D")

FAULT = Fault(
    title="Nothing keeps the weights small",
    level=2,
    symptom="degraded",
    params={"decay": Param(0.0, 0.0, 0.01, "share of each weight, times the rate, that a step takes away")},
    edits=Swap(FOUND, MADE.format("$decay")),
    settings={"share": 0.5},
    evidence=("generalisation.gap > 0.35",),
    effect="metrics.accuracy < healthy",
    why=(
        "Half of the 2809 pairs are known, and 15,000 weights can hold each of them on its own. With a training loss near 0 "
        "nothing pulls any more, and what was learnt by heart stays. Weight decay goes on pulling: it is what makes "
        "the rule, which needs smaller weights, cheaper than the list. Without it 50 in 100 new pairs are right, with it 99."
    ),
    fix="Weight decay, dropout, or more data; and always the two accuracies side by side.",
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
    shown_by=("loss_curve", "weight_size"),
    hints=(
        "Two accuracies belong together. Which have you looked at?",
        "Follow the size of the weights over the steps. What holds them?",
        "Read the line that builds the optimiser, argument by argument, beside the Settings.",
    ),
    look_alikes=(
        LookAlike(
            "data/ordered_split",
            "Count how often each class comes in the training half and in the other one.",
            "About equally often.",
            "Some classes come in one of them alone.",
        ),
        LookAlike(
            "optimizer/weight_decay_too_strong",
            "Compare the accuracy on what was trained on with that on what is new.",
            "The one is perfect, the other half of that.",
            "Both are poor, and alike.",
        ),
    ),
    sources=("https://arxiv.org/abs/1711.05101", "https://arxiv.org/abs/2201.02177"),
)
