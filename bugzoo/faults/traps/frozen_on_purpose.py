"""The first layer's weights stay the same to the last bit while the new digits are learnt. Did somebody forget to thaw it?"""

from bugzoo.faults.idioms import STEP, TRAIN_MODE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

LINE = "for parameter in model.layer2.parameters():\n    parameter.requires_grad = True"

FAULT = Fault(
    title="The lower layer stays frozen on purpose",
    level=3,
    symptom="none",
    trap=True,
    edits=Swap("for parameter in backbone:\n    parameter.requires_grad = True", LINE),
    evidence=(),
    effect="none",
    why=(
        "The first layer was trained on the old digits, and strokes are strokes: what it knows serves the new ones as well. "
        "Kept as it is, it costs no gradient, cannot be forgotten, and the new digits are learnt as well as without. A layer "
        "that is frozen before it has learnt anything is another matter: that one stays random."
    ),
    fix="Nothing needs repair. A frozen layer is right where it holds something that was learnt before.",
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
        "Which numbers would have to be bad, if it did harm? Look at them before you look at the weights.",
        "Compare the layer with how it was right after its creation, not with how it was when the new digits came.",
        "Find the lines that set requires_grad, and what had happened before each of them.",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Compare the layer's weights at the end with those that it was created with.",
            "They moved as long as the old digits were learnt.",
            "They never moved.",
        ),
        LookAlike(
            "freezing/never_unfrozen",
            "Count how many of the layers below the new head still move in the last epochs.",
            "One of two, and it is enough.",
            "None, to the end.",
        ),
    ),
    sources=("https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",),
)
