"""An attention classifier makes the same prediction for a sentence and for the same words in any other order."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

BARE = "self.dropout(self.words(inputs))"
PLACES = "torch.arange(inputs.shape[1], device=inputs.device)"

FAULT = Fault(
    title="Missing positional embeddings",
    level=3,
    symptom="degraded",
    edits=Swap("self.dropout(self.words(inputs) + self.positions($PLACES))", BARE),
    evidence=("parameter_audit.unchanged_share > 0.1",),
    effect="parameter_audit.unchanged_share > healthy",
    why=(
        "Attention computes a weighted mean, and a mean ignores order. Without positional embeddings, a sentence "
        "is a bag of words: `not good but cheap` equals `cheap but not good`. The optimizer still has the table "
        "of positional embeddings, but the table gets no gradient, because the forward pass never reads it. Where "
        "most labels depend on single words, accuracy falls only a little. Under a causal mask even less is lost, "
        "because each position sees a different number of earlier words."
    ),
    fix=(
        "Add the positional embeddings to the word embeddings before the first layer: `self.words(inputs) + "
        "self.positions(torch.arange(inputs.shape[1], device=inputs.device))`. Then look for parameters that get "
        "no gradient."
    ),
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
        "What should the prediction for a sentence depend on, besides its words?",
        "Shuffle the words of one sentence, and compare the two predictions.",
        (
            "List the parameters whose .grad stays None after backward(). Which line of forward() should read "
            "these parameters?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Print requires_grad of each parameter that does not change during training.",
            (
                "The parameters have requires_grad=True, but no gradient reaches them: "
                "`parameter_audit.frozen_share < 0.05`."
            ),
            "The parameters have requires_grad=False: `parameter_audit.frozen_share > 0.05`.",
        ),
        LookAlike(
            "attention/mask_after_softmax",
            "Predict one short text twice: alone, and next to a long text.",
            "Both predictions are the same: `dependency.padding_leak < 0.001`.",
            "The two predictions differ: `dependency.padding_leak > 0.001`.",
        ),
    ),
    sources=("https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/2203.16634"),
    cause=Cause(words.ATTENTION),
    terms=("position embedding",),
)
