"""The backbone was set free, every parameter says that it is trainable, and still it stays as it was."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

GROUPS = 'groups = [{"params": model.head.parameters()}, {"params": backbone, "lr": learning_rate * slower}]'
HELD = 'groups = [{"params": [one for one in model.parameters() if one.requires_grad]}]'
FREED = "if epoch == pretraining + frozen:\n    for parameter in backbone:\n        parameter.requires_grad = True"

FAULT = Fault(
    title="Set free after the optimiser was built without it",
    level=3,
    symptom="degraded",
    edits=Swap(GROUPS, HELD),
    evidence=("handover.left_out_share > 0.5",),
    effect="metrics.accuracy < healthy",
    why=(
        "An optimiser moves what it was given, and nothing else. Built while the backbone was frozen, from the parameters that "
        "were trainable then, it holds the new head alone. requires_grad = True later makes backward() work out "
        "gradients for 25,000 more numbers, which nobody reads and zero_grad() does not clear. "
        "The accuracy stops at 0.8, where 0.95 was due."
    ),
    fix="Give the optimiser everything that will ever be trained, or add_param_group(...) when it is set free.",
    repairs={
        "a group behind it": Swap(
            FREED, f'{FREED}\n    optimizer.add_param_group({{"params": backbone, "lr": learning_rate * slower}})'
        ),
        "built anew": Swap(
            FREED,
            f'{FREED}\n    slow = {{"params": backbone, "lr": learning_rate * slower}}\n'
            '    optimizer = torch.optim.Adam([{"params": model.head.parameters()}, slow], lr=learning_rate)',
        ),
        "by name": Swap(
            HELD,
            'groups = [{"params": part, "lr": learning_rate * (1 if name.startswith("head") else slower)}'
            " for name, part in model.named_parameters()]",
        ),
    },
    pretences={
        "set free once more": Swap(FREED, f"{FREED}\n    model.requires_grad_(True)"),
        "one layer of two": Swap(
            FREED,
            f'{FREED}\n    optimizer.add_param_group({{"params": model.layer2.bias, "lr": learning_rate * slower}})',
        ),
        "higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)"),
    },
    shown_by=("gradient_health",),
    hints=(
        "Who moves a parameter, and how does it know of it?",
        "Ask two lists: which parameters are trainable, and which does the optimiser hold at the end?",
        "Put the lines in the order in which they run: what is frozen, what is built, what is set free.",
    ),
    look_alikes=(
        LookAlike(
            "freezing/never_unfrozen",
            "Ask the parameters of the backbone at the end whether they are trainable.",
            "They are: `handover.frozen_share < 0.1`.",
            "They are not: `handover.frozen_share > 0.1`.",
        ),
        LookAlike(
            "optimizer/some_parameters_left_out",
            "Ask whether what does not move now has moved earlier in the run.",
            "It has, as long as the old digits were learnt.",
            "It never has.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/optim.html",
        "https://discuss.pytorch.org/t/how-the-pytorch-freeze-network-in-some-layers-only-the-rest-of-the-training/7088",
    ),
)
