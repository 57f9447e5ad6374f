"""The first layer's weights do not change at all while the model learns the new digits. Did I forget to unfreeze it?"""

from bugzoo.faults.idioms import STEP, TRAIN_MODE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

LINE = "for parameter in model.layer2.parameters():\n    parameter.requires_grad = True"

FAULT = Fault(
    title="First layer frozen on purpose during fine-tuning",
    level=3,
    symptom="none",
    trap=True,
    edits=Swap("for parameter in backbone:\n    parameter.requires_grad = True", LINE),
    evidence=(),
    effect="none",
    why=(
        "The first layer was trained on the old digits, and its stroke features also fit the new ones. A frozen layer "
        "needs no gradient and cannot forget. The model learns the new digits as well as without freezing. A layer "
        "that is frozen before any training is another matter: it stays random."
    ),
    fix="Nothing needs repair. Freezing a layer is right when it holds features learned before.",
    repairs={
        "chosen by name": Swap(
            LINE,
            "for name, parameter in model.named_parameters():\n"
            '    parameter.requires_grad = not name.startswith("layer1")',
        ),
        "by the module": Swap(LINE, "model.layer2.requires_grad_(True)"),
    },
    pretences={
        "frozen before it learnt": before(TRAIN_MODE, "model.layer1.requires_grad_(False)"),
        "a rate ten times lower": Swap("learning_rate = $R", "learning_rate = fold($R / 10)"),
        "gradients cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)"),
    },
    shown_by=("parameter_audit",),
    hints=(
        "Which numbers would be bad if this did harm? Look at those numbers before the weights.",
        (
            "Compare the layer's weights with those right after the model was created, not with those from the switch "
            "to the new digits."
        ),
        "Find the lines that set requires_grad. What had been trained before each of them?",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Compare the layer's weights at the end with its weights right after the model was created.",
            "The weights changed while the model learned the old digits.",
            "The weights never changed.",
        ),
        LookAlike(
            "freezing/never_unfrozen",
            "Count how many of the layers below the new head still change in the last epochs.",
            "One of the two layers changes, and one is enough.",
            "Neither layer changes, up to the last step.",
        ),
    ),
    sources=("https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",),
    terms=("catastrophic forgetting", "frozen parameters", "requires_grad"),
)
