"""The test texts contain almost no unknown words. Texts in production contain many, which surprised us."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "counts = Counter(word for line in {} for word in line[:longest])"
ALL = LINE.format("[*train, *validation, *test]")

FAULT = Fault(
    title="Data leakage: vocabulary built from all texts",
    level=3,
    symptom="too_good",
    edits=Swap(LINE.format("train"), ALL),
    evidence=("untrained_rows.untrained_share > 0.02",),
    effect="untrained_rows.untrained_share > healthy",
    why=(
        "A vocabulary is learned from data, like weights. A vocabulary built from all texts has embedding rows for "
        "words of the test texts. Hardly any test word is then unknown, although every new text has some unknown "
        "words. Rows of words that training never shows keep their random initial values, and the unknown token is "
        "used too rarely. In a language model the targets differ too, so its loss is not comparable with that of a "
        "model with another vocabulary."
    ),
    fix="Split first. Count the words of the training texts only, and map all other words to the unknown token.",
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
    ),
    pretences=instead(
        ALL,
        {
            "without the test": LINE.format("[*train, *validation]"),
            "oftener than that": f"{ALL}\ncounts = Counter({{word: times - 1 for word, times in counts.items()}})",
            "of every line there is": LINE.format("lines"),
        },
    ),
    shown_by=("data_inspection",),
    hints=(
        "Which numbers in this script are learned from data, besides the weights?",
        (
            "Compute the share of unknown words in the training data and in the test data. Which share would a new "
            "text have?"
        ),
        "Find a test word that never occurs in training, and look up its number.",
    ),
    look_alikes=(
        LookAlike(
            "data/leaky_split",
            "Look up each test sample among the training samples, and count the matches.",
            "No test sample is among the training samples.",
            "Many test samples are among the training samples.",
        ),
        LookAlike(
            "data/everything_unknown",
            "Compute the share of unknown tokens among the words of the evaluation data.",
            "The share is lower than it should be.",
            "All words are unknown.",
        ),
    ),
    sources=("https://scikit-learn.org/stable/common_pitfalls.html",),
    cause=Cause(words.LEAKAGE),
    terms=("data leakage", "vocabulary", "unknown token"),
)
