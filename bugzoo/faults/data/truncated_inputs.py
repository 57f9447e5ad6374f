"""Short reviews are judged well and long ones badly, whatever the size of the model."""

from bugzoo.faults.idioms import EPOCHS
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead, rewrite

WORDS = "vocabulary.get(word, 1) for word in split_words({})[:longest]"
CUT = WORDS.format("text[:$N]")

FAULT = Fault(
    title="Texts that are cut before what matters",
    level=3,
    symptom="degraded",
    edits=Swap(WORDS.format("text"), WORDS.format("text[:$characters]")),
    params={"characters": Param(24, 20, 26, "how much of a text is read, in characters")},
    evidence=("train_validation_overlap.shared > 0.4",),
    effect="metrics.accuracy < healthy",
    why=(
        "A limit that is meant in words is taken in characters: a review of 25 words is read up to its fifth, and often to the "
        'middle of one. What it comes to after the first clause, or after a "but", never reaches the model. Reviews that differ '
        "behind the cut become one and the same sample, some with praise and some with blame for a label: more than half of the "
        "validation samples stand in the training data as well."
    ),
    fix="Cut after splitting, in the unit that the limit is meant in, and count how many texts are cut and how much they lose.",
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
        "What does the model get to see of a long review?",
        "Turn one row of numbers back into words, and lay the text that it was made of beside it.",
        "Follow a long review from the list of pairs into its row. In which unit is each length measured?",
    ),
    look_alikes=(
        LookAlike(
            "data/everything_unknown",
            "Turn a few rows of numbers back into words, and look where they stop.",
            "They can be read, and stop after a few words: `data_inspection.commonest_token_share < 0.4`.",
            "Hardly a word is known, however long the row: `data_inspection.commonest_token_share > 0.4`.",
        ),
        LookAlike(
            "data/label_noise",
            "Look for two samples that are the same to the last number and have different labels.",
            "There are many: their texts differ further on.",
            "There are hardly any.",
        ),
        LookAlike(
            "data/leaky_split",
            "Lay two samples that agree, one of each half, beside the texts that they were made of.",
            "The texts are different ones.",
            "It is one text, twice in the file.",
        ),
    ),
    sources=("https://github.com/JohnGiorgi/DeCLUTR/issues/12", "https://arxiv.org/abs/1905.05583"),
)
