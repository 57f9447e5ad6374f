"""A classifier with attention that gives the same answer for a sentence and for its words in any other order."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

BARE = "self.dropout(self.words(inputs))"
PLACES = "torch.arange(inputs.shape[1], device=inputs.device)"

FAULT = Fault(
    title="Positions are never added",
    level=3,
    symptom="degraded",
    edits=Swap("self.dropout(self.words(inputs) + self.positions($PLACES))", BARE),
    evidence=("parameter_audit.unchanged_share > 0.1",),
    effect="parameter_audit.unchanged_share > healthy",
    why=(
        "Attention takes a weighted mean, and a mean does not ask for the order: without positions a sentence is a bag of words, "
        "and `not good but cheap` is `cheap but not good`. The table of positions is still there and in the optimiser; it "
        "gets no gradient, as nothing reads it. Where most labels hang on single words the accuracy falls by little. Under a "
        "causal mask even less is lost, as each place sees another number of words before it."
    ),
    fix="Add the positions to the words, in front of the first layer; look for parameters that get no gradient.",
    repairs=instead(
        "self.words(inputs)",
        {
            "by slicing": "self.words(inputs) + self.positions.weight[: inputs.shape[1]]",
            "one for each row": f"self.words(inputs) + self.positions({PLACES}.expand_as(inputs))",
            "counted up": "self.words(inputs) + self.positions(torch.ones_like(inputs).cumsum(1) - 1)",
        },
    ),
    pretences=instead(
        "self.words(inputs)",
        {
            "one position for all": "self.words(inputs) + self.positions(torch.zeros_like(inputs))",
            "times nothing": f"self.words(inputs) + 0.0 * self.positions({PLACES})",
            "detached": f"self.words(inputs) + self.positions({PLACES}).detach()",
        },
    )
    | {"higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)")},
    same_forward=True,
    shown_by=("dependency", "gradient_health"),
    hints=(
        "What should the answer to a sentence hang on, beside its words?",
        "Shuffle the words of a sentence and ask again.",
        "List the parameters that have not moved, and look for the lines that should read them.",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Ask the parameters that do not move whether they are trainable.",
            "They are, and no gradient reaches them: `parameter_audit.frozen_share < 0.05`.",
            "They are not: `parameter_audit.frozen_share > 0.05`.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Score one short text twice, alone and beside a long one.",
            "The same answer: `dependency.padding_leak < 0.001`.",
            "Another one: `dependency.padding_leak > 0.001`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/2203.16634"),
)
