"""The model classifies short reviews well and long reviews badly, whatever its size."""

from bugzoo.faults import words
from bugzoo.faults.idioms import EPOCHS
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead, rewrite

WORDS = "vocabulary.get(word, 1) for word in split_words({})[:longest]"
CUT = WORDS.format("text[:$N]")

FAULT = Fault(
    title="Texts truncated in characters instead of words",
    level=3,
    symptom="degraded",
    edits=Swap(WORDS.format("text"), WORDS.format("text[:$characters]")),
    params={"characters": Param(24, 20, 26, "characters of each text that the model reads")},
    evidence=("train_validation_overlap.shared > 0.4",),
    effect="metrics.accuracy < healthy",
    why=(
        "The limit is meant in words but is applied to characters. A review of 25 words is cut at its fifth word, "
        'often inside the word. The verdict after the first clause, or after a "but", never reaches the model. '
        "Reviews that differ only after the cut become the same sample, some labeled positive and some negative. "
        "More than half of the validation samples are also in the training data."
    ),
    fix=(
        "Truncate after splitting, in the unit of the limit: `split_words(text)[:longest]`. Count how many texts are "
        "truncated and how much they lose."
    ),
    repairs=instead(
        CUT,
        {
            "words counted once": WORDS.format("' '.join(text.split()[:longest])"),
            "room for the longest words": WORDS.format("text[: 40 * longest]"),
            "a text without spaces round it": WORDS.format("text.strip()"),
        },
    ),
    pretences=instead(
        CUT,
        {
            "its end": WORDS.format("text[-$N:]"),
            "a little more": WORDS.format("text[: $N + 4]"),
            "written small": WORDS.format("text[:$N].lower()"),
        },
    )
    | {
        "a higher limit of words": Swap("longest = $WORDS", "longest = fold($WORDS * 2)"),
        "longer": rewrite(EPOCHS, COUNT="fold($COUNT * 2)"),
    },
    shown_by=("data_inspection", "generalisation"),
    hints=(
        "Which part of a long review does the model see?",
        "Decode one row of `inputs` back into words, and compare the result with the original text.",
        "Follow a long review from the list of pairs into its row. What does each length on the way count?",
    ),
    look_alikes=(
        LookAlike(
            "data/everything_unknown",
            "Decode a few rows of token ids into words, and look where each text stops.",
            "The words can be read, but each text stops after a few: `data_inspection.commonest_token_share < 0.4`.",
            "Hardly any word is known, however long the row is: `data_inspection.commonest_token_share > 0.4`.",
        ),
        LookAlike(
            "data/label_noise",
            "Count the pairs of samples with identical inputs and different labels.",
            "There are many such pairs, and their full texts differ further on.",
            "There are hardly any such pairs.",
        ),
        LookAlike(
            "data/leaky_split",
            "Take a training row and an equal validation row, and compare their original texts.",
            "The two original texts are different.",
            "The two rows are one text, which is in the file twice.",
        ),
    ),
    sources=("https://github.com/JohnGiorgi/DeCLUTR/issues/12", "https://arxiv.org/abs/1905.05583"),
    cause=Cause(words.INPUTS, also=("truncation",)),
    terms=("tokenizer",),
)
