"""Every parameter of the backbone has requires_grad = True, and still the backbone does not change."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

GROUPS = 'groups = [{"params": model.head.parameters()}, {"params": backbone, "lr": learning_rate * slower}]'
HELD = 'groups = [{"params": [one for one in model.parameters() if one.requires_grad]}]'
FREED = "if epoch == pretraining + frozen:\n    for parameter in backbone:\n        parameter.requires_grad = True"

FAULT = Fault(
    title="Unfrozen parameters missing from the optimizer",
    level=3,
    symptom="degraded",
    edits=Swap(GROUPS, HELD),
    evidence=("optimizer_handover.left_out_share > 0.5",),
    effect="metrics.accuracy < healthy",
    why=(
        "An optimizer only updates the parameters that you pass to it. Here the script creates the optimizer while the "
        "backbone is frozen, from the trainable parameters, so it holds the new head alone. Setting requires_grad = "
        "True later makes backward() compute gradients for 25,000 more numbers. No step uses these gradients, and "
        "optimizer.zero_grad() does not clear them. The accuracy stops at 0.8 instead of 0.95."
    ),
    fix=(
        "Give the optimizer every parameter that will ever be trained, or call optimizer.add_param_group(...) when you "
        "unfreeze."
    ),
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
        "Which object changes a parameter, and how does that object know of the parameter?",
        (
            "At the end, list the parameters with requires_grad = True and those in optimizer.param_groups. Do the "
            "lists agree?"
        ),
        (
            "Write down the order in which these lines run: each change of requires_grad, and the creation of the "
            "optimizer."
        ),
    ),
    look_alikes=(
        LookAlike(
            "freezing/never_unfrozen",
            "At the end of training, print requires_grad for each parameter of the model.",
            "The parameters have requires_grad = True: `optimizer_handover.frozen_share < 0.1`.",
            "The parameters have requires_grad = False: `optimizer_handover.frozen_share > 0.1`.",
        ),
        LookAlike(
            "optimizer/some_parameters_left_out",
            "Check whether the weights that do not change now have changed earlier in the run.",
            "The weights changed while the model learned the old digits.",
            "The weights have never changed.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Multiply the learning rate by ten. How far does the backbone's first weight move in a step?",
            "It does not move at all, whatever the rate.",
            "It moves ten times as far as before.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/optim.html",
        "https://discuss.pytorch.org/t/how-the-pytorch-freeze-network-in-some-layers-only-the-rest-of-the-training/7088",
    ),
    terms=("unfreeze layers", "requires_grad", "parameter group"),
)
