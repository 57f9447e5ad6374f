"""In the test texts hardly a word is unknown. In production many are, and nobody had reckoned with that."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

LINE = "counts = Counter(word for line in {} for word in line[:longest])"
REVIEWS = "counts = Counter(word for text, _ in {} for word in split_words(text)[:longest])"
ALL = LINE.format("[*train, *validation, *test]")

FAULT = Fault(
    title="A vocabulary of all texts, those of the test among them",
    level=3,
    symptom="too_good",
    edits=either(Swap(LINE.format("train"), ALL), Swap(REVIEWS.format("train"), REVIEWS.format("pairs"))),
    evidence=("untrained_rows.untrained_share > 0.02",),
    effect="untrained_rows.untrained_share > healthy",
    why=(
        "A vocabulary is learnt from data like any weight. One that has counted the test texts has a row for each word in them, "
        "so that none of them is unknown there, as some would be in any text of tomorrow. Rows of words that training never "
        "showed stay as random as they were drawn, the unknown word's row is used less than it will be, and the loss is about "
        "other targets than that of everybody else's vocabulary: the two cannot be compared."
    ),
    fix="Split first, count the words of the training half, and send the others to the unknown word.",
    repairs=instead(
        ALL,
        {
            "line by line": "counts = Counter()\nfor line in train:\n    counts.update(line[:longest])",
            "those of the first half": LINE.format("lines[: count // 2]"),
            "what training has not is dropped": (
                f"{ALL}\nshown = {LINE.format('train').removeprefix('counts = ')}\n"
                "counts = Counter({word: shown[word] for word in shown})"
            ),
        },
    )
    | {
        "reviews of the first part": Swap(REVIEWS.format("pairs"), REVIEWS.format("pairs[: len(pairs) * 4 // 5]")),
        "review by review": Swap(
            REVIEWS.format("pairs"),
            "counts = Counter()\nfor text, _ in train:\n    counts.update(split_words(text)[:longest])",
        ),
    },
    pretences=instead(
        ALL,
        {
            "without the test": LINE.format("[*train, *validation]"),
            "oftener than that": f"{ALL}\ncounts = Counter({{word: times - 1 for word, times in counts.items()}})",
            "of every line there is": LINE.format("lines"),
        },
    )
    | {
        "reviews mixed once more": Swap(REVIEWS.format("pairs"), REVIEWS.format("pairs[::-1]")),
        "the other part": Swap(REVIEWS.format("pairs"), REVIEWS.format("validation")),
    },
    shown_by=("data_inspection",),
    hints=(
        "Which numbers of this script were learnt from data, beside the weights?",
        "Count the unknown words of the training and of the test. What would a new text have?",
        "Find a word of the test that training never showed, and look up its number.",
    ),
    look_alikes=(
        LookAlike(
            "data/leaky_split",
            "Look for the test samples among the training samples, one by one.",
            "None of them is there: `train_validation_overlap.shared < 0.4`.",
            "Many of them are: `train_validation_overlap.shared > 0.4`.",
        ),
        LookAlike(
            "data/everything_unknown",
            "Count how many of the words in the evaluation became the unknown one.",
            "Fewer than there should be.",
            "All of them.",
        ),
    ),
    sources=("https://scikit-learn.org/stable/common_pitfalls.html",),
)
