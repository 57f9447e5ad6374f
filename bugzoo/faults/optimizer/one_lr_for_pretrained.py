"""The new task is learnt very well, and what the network could do before is partly gone."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

GROUPS = '[{"params": model.head.parameters()}, {"params": backbone, "lr": learning_rate * slower}]'
ONE = '[{"params": model.head.parameters()}, {"params": backbone}]'

FAULT = Fault(
    title="One learning rate for the new head and for what was learnt before",
    level=4,
    symptom="degraded",
    edits=Swap(GROUPS, ONE),
    evidence=("handover.rate_ratio > 0.5",),
    effect="metrics.old_accuracy < healthy",
    why=(
        "A new head has everything to learn, the layers below it next to nothing. At the head's rate they are rewritten for the "
        "new digits within an epoch or two: the accuracy on the old ones, with their own head, falls from 0.99 to about 0.9, "
        "and nothing in the loss says so, as no old digit is asked any more. On the new task alone it looks like a gain."
    ),
    fix="A group of its own for what was trained before, at a tenth of the rate or less; and measure the old skill as well.",
    repairs={
        "a tenth": Swap(ONE, ONE.replace("backbone}", 'backbone, "lr": learning_rate / 10}')),
        "layer by layer": Swap(
            ONE,
            '[{"params": model.head.parameters()}, {"params": model.layer2.parameters(), "lr": learning_rate * slower}, '
            '{"params": model.layer1.parameters(), "lr": learning_rate * slower / 2}]',
        ),
        "set behind it": Swap(
            "optimizer = torch.optim.Adam(groups, lr=learning_rate)",
            "optimizer = torch.optim.Adam(groups, lr=learning_rate)\n"
            'optimizer.param_groups[1]["lr"] = learning_rate * slower',
        ),
    },
    pretences={
        "all of it slower": rewrite(LEARNING_RATE, LR="fold($LR / 5)"),
        "one list": Swap(ONE, '[{"params": [*model.head.parameters(), *backbone]}]'),
        "frozen for longer": Swap("epoch == pretraining + frozen", "epoch == pretraining + 2 * frozen"),
    },
    hints=(
        "What could the network do before this began, and who measures whether it still can?",
        "Evaluate the old head on the old digits after each epoch. When does it begin to fall?",
        "List the groups of the optimiser, each with its rate and with what it holds.",
    ),
    look_alikes=(
        LookAlike(
            "freezing/unfrozen_after_optimizer",
            "Ask how well the old digits are still known with their own head.",
            "Worse than before: `handover.left_out_share < 0.05`.",
            "As well as before, as nothing of it moved: `handover.left_out_share > 0.05`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the training loss of the last phase, from its first step on.",
            "It falls as it should, and further than usual.",
            "It swings, or rises.",
        ),
    ),
    sources=("https://arxiv.org/abs/1801.06146", "https://arxiv.org/abs/1612.00796"),
)
