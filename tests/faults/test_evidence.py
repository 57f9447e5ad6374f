"""Claims are read from text and looked up in what was measured; a missing number proves nothing."""

import pytest

from bugzoo.faults.evidence import number, parse, sign_test

RESULT = {
    "outcome": "finished",
    "metrics": {"accuracy": 0.5},
    "numbers": {"fresh_gradient": {"stale_share": 0.8}, "loss_curve": {"final_loss": float("nan")}},
}
TWIN = {"outcome": "finished", "metrics": {"accuracy": 0.9}, "numbers": {"fresh_gradient": {"stale_share": 0.0}}}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("fresh_gradient.stale_share > 0.5", True),
        ("fresh_gradient.stale_share < 0.5", False),
        ("fresh_gradient.nothing > 0.5", False),
        ("nothing.at_all < 0.5", False),
        ("metrics.accuracy < healthy", True),
        ("metrics.accuracy > healthy", False),
        ("loss_curve.final_loss > 100", True),
        ("outcome == finished", True),
        ("outcome == crashed", False),
    ],
)
def test_claims(text, holds):
    assert parse(text).holds(RESULT, TWIN) is holds


def test_a_claim_against_a_twin_without_the_number_is_false():
    assert not parse("loss_curve.final_loss > healthy").holds(RESULT, TWIN)


def test_text_that_is_no_claim():
    with pytest.raises(ValueError, match="is no claim"):
        parse("fresh_gradient is large")


def test_number_of_an_instrument_that_did_not_apply():
    assert number({"numbers": {"dependency": {"not_applicable": "no model"}}}, "dependency.future_leak") is None


def test_sign_test_is_exact():
    assert sign_test(5, 5) == 1 / 32
    assert sign_test(4, 5) == 6 / 32
    assert sign_test(0, 5) == 1.0
