"""What people write, and what they mean."""

import pytest

from bugzoo.interview.hunt.words import findings, named_lines, paragraphs, ranked

PLANTED = {
    "loop/stale_gradients": [(60, 61)],
    "loss/double_softmax": [(70, 70)],
    "modes/eval_mode_missing": [(90, 91)],
    "data/leaky_split": [(33, 33)],
}
SAID = [
    ("The gradients are never zeroed, zero_grad() is missing before backward, so they add up.", "loop/stale_gradients"),
    ("there is a softmax in the model's forward and cross_entropy applies another one on top", "loss/double_softmax"),
    ("model.eval() isn't called before validation so dropout is still active", "modes/eval_mode_missing"),
    ("train and validation sets overlap: the slices share samples", "data/leaky_split"),
    ("Line 70: probabilities go into the cross entropy instead of logits", "loss/double_softmax"),
]


@pytest.mark.parametrize(("text", "means"), SAID)
def test_a_finding_in_own_words(text: str, means: str) -> None:
    [found] = findings(text, "digits_cnn", PLANTED)
    assert found.means == means, ranked(text, "digits_cnn")[:5]


@pytest.mark.parametrize(
    "text",
    [
        "The learning rate is far too high, I divided it by ten.",
        "The network is too small for this task.",
        "asdf qwer zxcv",
        "Everything looks fine to me here.",
    ],
)
def test_a_finding_about_something_else(text: str) -> None:
    assert not any(one.means for one in findings(text, "digits_cnn", PLANTED))


def test_one_bug_is_meant_once() -> None:
    text = "- zero_grad is missing\n- the gradients are never cleared\n\nsoftmax twice, in line 70"
    found = findings(text, "digits_cnn", PLANTED)
    assert sorted(one.means for one in found) == ["", "loop/stale_gradients", "loss/double_softmax"]


def test_a_list_of_all_words_wins_nothing() -> None:
    """Naming everything in one paragraph names one bug; in many, each that is about something right costs."""
    [one] = findings("gradients softmax eval split learning rate mask shuffle dropout nan " * 3, "digits_cnn", PLANTED)
    assert one.means in ("", *PLANTED)


def test_what_is_a_paragraph() -> None:
    text = "# Findings\n<!-- In your own words -->\n\n1. the rate is wrong\n   in line 3\n2) the mask too\n\n\n"
    text += "The last one\nof two lines.\n"
    assert paragraphs(text) == ["1. the rate is wrong in line 3", "2) the mask too", "The last one of two lines."]
    assert paragraphs("") == paragraphs("<!-- never closed, with words in it") == []
    assert len(paragraphs("a wrong rate here\n\n" * 500)) == 50


def test_lines() -> None:
    assert named_lines("line 5, lines 7-9, train.py:12 and L40") == (5, 7, 8, 9, 12, 40)
    assert named_lines("in 2026 the line was red") == ()
