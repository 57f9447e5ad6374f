"""Two layers of the model hold the very same weights, to the last bit. Did somebody copy a line and forget to change it?"""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

HEAD = "self.head = nn.Linear(width, 96)"
SMALL = "for table in (self.characters, self.positions):\n    nn.init.normal_(table.weight, std=$S)"
TIED = "self.head.weight = self.characters.weight"

FAULT = Fault(
    title="Embedding and head share their weights",
    level=2,
    symptom="none",
    trap=True,
    edits=Swap(HEAD, "\n".join((HEAD, SMALL.replace("$S", "0.1"), TIED))),
    evidence=(),
    effect="none",
    why=(
        "A row of the embedding says what a character is like when it is read, a row of the head what the text is like when it "
        "should be written. Many language models use one table for both: a quarter of the numbers, and each is "
        "trained by every place where its character is read or written. The table has to begin small, as it makes logits now."
    ),
    fix="Nothing needs repair. parameters() names a shared tensor once, so the optimiser moves it once.",
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
        "Is it two tensors with the same numbers, or one tensor with two names? Which of the two would be a fault?",
        "Count the parameters with and without counting one twice, and look whether the loss falls as it should.",
        "Read where the layers are made, and look up what large language models do at their two ends.",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/zero_weights",
            "Look whether the rows of the shared table differ from each other, and from step to step.",
            "They do: it learns like any other.",
            "They are all alike.",
        ),
        LookAlike(
            "freezing/frozen_layers",
            "Compare the shared weights before the training with those behind it.",
            "They have moved: `parameter_audit.frozen_untouched_share < 0.01`.",
            "They have not: `parameter_audit.frozen_untouched_share > 0.01`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1608.05859",),
)
