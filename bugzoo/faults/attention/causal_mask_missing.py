"""The language model's loss falls far below what anybody reports, but the text that it writes is nonsense."""

from bugzoo.faults.idioms import MASK
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import remove

FAULT = Fault(
    title="Attention that sees the tokens it should predict",
    level=2,
    symptom="too_good",
    edits=remove(MASK),
    not_on={"sequence_classifier": "its mask hides padding, not the future: a review may be read in both directions."},
    evidence=("dependency.future_leak > 0.01",),
    effect="loss_curve.final_loss < healthy",
    why=(
        "In training, position t is asked for the token at t + 1, which stands in the input at t + 1. Without the causal "
        "mask attention simply copies it. The loss falls below the entropy of the text, which no honest model can."
    ),
    fix="Mask the scores of later positions with -inf before the softmax.",
    hints=(
        "Is the loss possible? Compare it with the entropy floor that the program states.",
        "Change the last token of an input. Which outputs change, and which should?",
        "Read the attention: which positions may position t look at?",
    ),
    look_alikes=(
        LookAlike(
            "loss/next_token_not_shifted", "There the target is the input itself, and even a causal model copies it."
        ),
        LookAlike("attention/mask_after_softmax", "There the rows of the weights do not add up to one."),
    ),
    sources=("https://arxiv.org/abs/1706.03762",),
)
