"""The model learns the new task very well, and its accuracy on the old task drops."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

GROUPS = '[{"params": model.head.parameters()}, {"params": backbone, "lr": learning_rate * slower}]'
ONE = '[{"params": model.head.parameters()}, {"params": backbone}]'

FAULT = Fault(
    title="Same learning rate for pretrained backbone and new head",
    level=4,
    symptom="degraded",
    edits=Swap(GROUPS, ONE),
    evidence=("optimizer_handover.rate_ratio > 0.5",),
    effect="metrics.old_accuracy < healthy",
    why=(
        "A new head has everything to learn, the pretrained backbone almost nothing. With the head's learning rate, "
        "the new digits overwrite the backbone within an epoch or two. This is catastrophic forgetting: accuracy on "
        "the old digits, with their own head, falls from 0.99 to about 0.9. The loss does not show this, because the "
        "training data no longer has old digits. On the new task alone it looks like a gain."
    ),
    fix=(
        "Give the pretrained parameters a parameter group of their own, with a tenth of the head's learning rate or "
        "less. Measure accuracy on the old task as well."
    ),
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
    free=("update",),
    hints=(
        "What could the model do before this training began? Which line measures whether the model still can?",
        "Evaluate the old head on the old digits after each epoch. When does the accuracy begin to fall?",
        "Print optimizer.param_groups: for each group, its lr and the parameters that it holds.",
    ),
    look_alikes=(
        LookAlike(
            "freezing/unfrozen_after_optimizer",
            "Measure the accuracy on the old digits, with the head that was trained on them.",
            "The accuracy is lower than before: `optimizer_handover.left_out_share < 0.05`.",
            "The accuracy is the same as before, because no old weight has changed: `optimizer_handover.left_out_share > 0.05`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Plot the training loss of the last phase alone, from its first step on.",
            "The loss falls as it should, and further than usual.",
            "The loss swings or rises.",
        ),
    ),
    sources=("https://arxiv.org/abs/1801.06146", "https://arxiv.org/abs/1612.00796"),
    terms=("catastrophic forgetting", "parameter group", "learning rate"),
)
