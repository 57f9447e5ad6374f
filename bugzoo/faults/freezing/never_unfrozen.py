"""The new head learns quickly, then nothing goes on: the second phase of the fine-tuning looks like the first."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

FREED = "if epoch == pretraining + frozen:\n    for parameter in backbone:\n        parameter.requires_grad = {}"
STILL = FREED.format("False")

FAULT = Fault(
    title="The backbone is never set free",
    level=3,
    symptom="plateau",
    edits=Swap("parameter.requires_grad = True", "parameter.requires_grad = False"),
    evidence=("handover.frozen_share > 0.9",),
    effect="metrics.accuracy < healthy",
    why=(
        "A head on frozen layers can only weigh what these already tell apart. They were made for the digits 0 to 4; what sets "
        "an 8 from a 9 is not among it. Freezing them at first is right, as a random head would send them wild gradients; "
        "when they are not set free afterwards, the accuracy stops at 0.8, where 0.95 was due."
    ),
    fix="Set requires_grad to True when the second phase begins, and check by what moves, not by the line that says so.",
    repairs={
        "by the modules": Swap(STILL, "if epoch == pretraining + frozen:\n    model.requires_grad_(True)"),
        "in each epoch": Swap(
            STILL,
            "for parameter in backbone:\n    parameter.requires_grad = not pretraining <= epoch < pretraining + frozen",
        ),
        "one epoch later": Swap(
            STILL, FREED.format("True").replace("pretraining + frozen", "pretraining + frozen + 1")
        ),
    },
    pretences={
        "only one bias": Swap(STILL, "if epoch == pretraining + frozen:\n    model.layer2.bias.requires_grad = True"),
        "in the last epoch": Swap(STILL, FREED.format("True").replace("pretraining + frozen", "epochs - 1")),
        "higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)"),
    },
    shown_by=("parameter_audit", "gradient_health"),
    hints=(
        "The training has three phases. By what would you see that the third one has begun?",
        "Copy the weights of the backbone when the new digits come, and compare at the end.",
        "Find every line that sets requires_grad, and the epoch in which it runs.",
    ),
    look_alikes=(
        LookAlike(
            "freezing/unfrozen_after_optimizer",
            "Ask the parameters of the backbone at the end whether they are trainable.",
            "They are not: `handover.frozen_share > 0.9`.",
            "They are: `handover.frozen_share < 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Copy the weights of the backbone and compare them after an epoch of the last phase.",
            "They are the same to the bit.",
            "They have moved a little.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",
        "https://arxiv.org/abs/1801.06146",
    ),
)
