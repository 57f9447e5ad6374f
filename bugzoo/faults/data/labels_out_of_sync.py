"""Training loss falls as always, if slowly; on validation data the model guesses."""

from bugzoo.faults.idioms import LOSS, PAIRS
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import either, rewrite

FAULT = Fault(
    title="Inputs and labels in different orders",
    level=3,
    symptom="stuck",
    edits=either(
        rewrite(PAIRS, LABELS=("$ARRAY[$ORDER.sort().values]", "($LABELS)[torch.randperm(len($LABELS))]")),
        rewrite(LOSS, TARGETS="($TARGETS)[torch.randperm(len($TARGETS))]"),
    ),
    not_on={
        name: "numbers of words or characters have no neighbours that tell a label: data_inspection measures none, tried."
        for name in ("amp_transformer", "mini_transformer", "sentiment_lstm", "sequence_classifier")
    }
    | {"regression_mlp": "its targets are numbers and no classes, so that no neighbour has the same one."},
    evidence=("data_inspection.agreement_over_chance < 0.1",),
    effect="metrics.accuracy < healthy",
    why=(
        "Two arrays that belong together were indexed by two different orders. Every image has somebody's label. The "
        "network learns such pairs by heart, so the training loss goes down all the same; nothing of it carries over."
    ),
    fix="Keep inputs and labels in one structure and index it once; look at a few pairs with your own eyes.",
    hints=(
        "Does the training loss tell you that something sensible is learned? What would tell you?",
        "Decode a few samples and show them beside their labels.",
        "Follow inputs and labels separately from where they are loaded to where they meet.",
    ),
    look_alikes=(
        LookAlike("fit/no_regularisation", "An overfitted model beats chance on validation data; here it does not."),
        LookAlike("data/label_noise", "With noise neighbours still agree more often than chance."),
    ),
    sources=("https://arxiv.org/abs/1611.03530",),
)
