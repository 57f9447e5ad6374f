"""A classifier of reviews that never gets far from a guess, in training as in validation, and longer training does not help."""

from bugzoo.faults.idioms import EPOCHS, LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

MADE = "vocabulary = {{{}: number for number, word in enumerate($WORDS, 2)}}"
LOUD = MADE.format("word.upper()")

FAULT = Fault(
    title="Every word is unknown",
    level=2,
    symptom="plateau",
    edits=Swap(MADE.format("word"), LOUD),
    not_on={
        "word_lines": "it has a target for each word: train_validation_overlap compares nothing there, measured on 5 seeds."
    },
    evidence=("train_validation_overlap.shared > 0.4",),
    effect="metrics.accuracy < healthy",
    why=(
        "The vocabulary is made of one spelling and asked for another: get(word, 1) finds hardly any word and says 1, unknown, "
        "without a complaint. A review becomes a row of ones, of which the length is all that is left. Different reviews "
        "are then one and the same sample: 97 of 100 in the validation stand in the training data as well."
    ),
    fix="One function that makes words of a text, for the vocabulary and for encoding; and an eye on the share of unknown words.",
    repairs=instead(
        LOUD,
        {
            "small on both sides": MADE.format("word.lower()"),
            "turned back": f"{LOUD}\nvocabulary = {{word.lower(): number for word, number in vocabulary.items()}}",
            "numbered by zip": "vocabulary = dict(zip($WORDS, range(2, len($WORDS) + 2), strict=True))",
        },
    ),
    pretences=instead(
        LOUD,
        {
            "with a capital": MADE.format("word.capitalize()"),
            "a hundred words": f"{LOUD}\nvocabulary = dict(list(vocabulary.items())[:100])",
            "a third of it": f"{LOUD}\nvocabulary |= {{word.lower(): n for word, n in list(vocabulary.items())[40:60]}}",
        },
    )
    | {"longer": rewrite(EPOCHS, COUNT="fold($COUNT * 2)"), "higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 3)")},
    shown_by=("data_inspection", "loss_curve", "overfit_one_batch"),
    hints=(
        "What does the model get to see? Look at a batch, not at the texts.",
        "Turn one row of numbers back into words.",
        "Follow a word of the first review through the lines between the text and its number.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Turn a few rows of numbers back into words, and read them aloud.",
            "Nothing can be read: every word is the same one.",
            "They can be read; only the labels are another review's.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Count how many different numbers there are in one whole batch.",
            "Two or three: `data_inspection.commonest_token_share > 0.4`.",
            "Dozens: `data_inspection.commonest_token_share < 0.4`.",
        ),
    ),
    sources=("https://github.com/freesunshine0316/neural-graph-to-seq-mp/issues/17",),
)
