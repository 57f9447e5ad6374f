"""Two layers of the model hold exactly the same weights, to the last bit. Did I copy a line and forget to change it?"""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

HEAD = "self.head = nn.Linear(width, 96)"
SMALL = "for table in (self.characters, self.positions):\n    nn.init.normal_(table.weight, std=$S)"
TIED = "self.head.weight = self.characters.weight"

FAULT = Fault(
    title="Weight tying of embedding and output head",
    level=2,
    symptom="none",
    trap=True,
    edits=Swap(HEAD, "\n".join((HEAD, SMALL.replace("$S", "0.1"), TIED))),
    evidence=(),
    effect="none",
    why=(
        "A row of the embedding describes a character as input. A row of the head describes it as output. Many "
        "language models use one matrix for both (weight tying), which saves about a quarter of the parameters in "
        "GPT-2 small. Every position that reads or predicts a character then trains its row. The matrix must start "
        "small, because it also produces logits."
    ),
    fix="Nothing needs repair. model.parameters() yields a shared tensor once, so the optimizer updates it once.",
    repairs={
        "as a parameter of the head": Swap(TIED, 'self.head.register_parameter("weight", self.characters.weight)'),
        "after the model is made": (
            Swap(TIED, "pass"),
            Swap("model = Net().to(device)", "model = Net().to(device)\nmodel.head.weight = model.characters.weight"),
        ),
    },
    pretences={
        "cut apart by detach": Swap(TIED, "self.head.weight = nn.Parameter(self.characters.weight.detach(), False)"),
        "a large table": Swap(SMALL, "pass"),
        "a gradient cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)"),
    },
    shown_by=("parameter_audit", "initial_loss"),
    hints=(
        "Is it two tensors with equal values, or one tensor with two names? Which of the two would be a fault?",
        "Count the parameters with and without the duplicate. Then check whether the loss falls as it should.",
        ("Read where the layers are created. Then look up how large language models build their first and last layer."),
    ),
    look_alikes=(
        LookAlike(
            "initialisation/zero_weights",
            "Check whether the rows of the shared matrix differ from each other, and change from step to step.",
            "The rows differ and change, as in any other layer.",
            "All rows are alike.",
        ),
        LookAlike(
            "freezing/frozen_layers",
            "Compare the shared weights before training with those after it.",
            "The weights changed: `parameter_audit.frozen_untouched_share < 0.01`.",
            "The weights did not change: `parameter_audit.frozen_untouched_share > 0.01`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1608.05859",),
    terms=("weight tying",),
)
