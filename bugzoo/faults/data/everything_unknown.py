"""A review classifier stays close to chance, in training and in validation. Longer training does not help."""

from bugzoo.faults import words
from bugzoo.faults.idioms import EPOCHS, LEARNING_RATE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

MADE = "vocabulary = {{{}: number for number, word in enumerate($WORDS, 2)}}"
LOUD = MADE.format("word.upper()")

FAULT = Fault(
    title="Every word mapped to the unknown token (UNK)",
    level=2,
    symptom="plateau",
    edits=Swap(MADE.format("word"), LOUD),
    not_on={
        "word_lines": (
            "it has a target for each word, so `train_validation_overlap` compares nothing (measured on 5 seeds)."
        )
    },
    evidence=("train_validation_overlap.shared > 0.4",),
    effect="metrics.accuracy < healthy",
    why=(
        "The vocabulary holds upper-case words, and the lookup asks for lower-case words. For nearly every word, "
        "`vocabulary.get(word, 1)` returns 1, the unknown token, and raises no error. A review becomes a row of "
        "ones, and little more than its length is left. Different reviews become the same sample: 97 of 100 "
        "validation samples are also in the training data."
    ),
    fix=(
        "Use one tokenizer function, both for building the vocabulary and for encoding. Print the share of unknown "
        "tokens."
    ),
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
        "What does the model receive? Look at one encoded batch, not at the texts.",
        "Decode one row of `inputs` back into words.",
        "Follow one word of the first review from the text to its number. Print the word at every line on the way.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Decode a few rows of token ids into words, and read each row next to its label.",
            "The texts cannot be read, because every word is the same token.",
            "The texts can be read, but each label belongs to another review.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Count how many different token ids there are in one whole batch.",
            "The batch holds two or three different ids: `data_inspection.commonest_token_share > 0.4`.",
            "The batch holds dozens of different ids: `data_inspection.commonest_token_share < 0.4`.",
        ),
    ),
    sources=("https://github.com/freesunshine0316/neural-graph-to-seq-mp/issues/17",),
    cause=Cause(words.INPUTS, also=("vocabulary", "unknown tokens")),
    terms=("data inspection", "tokenizer", "unknown token", "vocabulary"),
    beside={"sentiment_lstm": ("modes/eval_mode_missing",)},
)
