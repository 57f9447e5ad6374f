"""The new head learns quickly, then the accuracy plateaus. The second phase of the fine-tuning looks like the first."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import rewrite

FREED = "if epoch == pretraining + frozen:\n    for parameter in backbone:\n        parameter.requires_grad = {}"
STILL = FREED.format("False")

FAULT = Fault(
    title="Backbone never unfrozen",
    level=3,
    symptom="plateau",
    edits=Swap("parameter.requires_grad = True", "parameter.requires_grad = False"),
    evidence=("optimizer_handover.frozen_share > 0.9",),
    effect="metrics.accuracy < healthy",
    why=(
        "A head on a frozen backbone can only weigh the features that are already there. The backbone learned its "
        "features on the digits 0 to 4, and they do not separate an 8 from a 9. Freezing is right at first, because a "
        "random head would send large random gradients into the backbone. Without unfreezing afterwards, the accuracy "
        "stops at 0.8 instead of 0.95."
    ),
    fix=(
        "Set requires_grad = True for the backbone when the second phase begins. Check that the weights really change, "
        "not only that the line is there."
    ),
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
    by_counter=("in each epoch", "one epoch later"),
    pretences={
        "only one bias": Swap(STILL, "if epoch == pretraining + frozen:\n    model.layer2.bias.requires_grad = True"),
        "in the last epoch": Swap(STILL, FREED.format("True").replace("pretraining + frozen", "epochs - 1")),
        "higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)"),
    },
    free=("gradient", "update"),
    shown_by=("parameter_audit", "gradient_health"),
    hints=(
        "Training has three phases. Which number or plot would show you that the third one has begun?",
        "Copy the backbone's weights when the new digits come, and compare them at the end with torch.equal.",
        "For every line that sets requires_grad, write down the epoch in which it runs and the value that it sets.",
    ),
    look_alikes=(
        LookAlike(
            "freezing/unfrozen_after_optimizer",
            "At the end of training, print requires_grad for each parameter of the model.",
            "The parameters have requires_grad = False: `optimizer_handover.frozen_share > 0.9`.",
            "The parameters have requires_grad = True: `optimizer_handover.frozen_share < 0.9`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Copy the backbone's weights and compare them after an epoch of the last phase.",
            "The weights are identical, bit for bit.",
            "The weights have changed a little.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",
        "https://arxiv.org/abs/1801.06146",
    ),
    terms=("frozen parameters", "unfreeze layers"),
)
