"""A broken contract and an instrument that name one cause are one suspect."""

from dataclasses import replace

from bugzoo.diagnostics._contracts import Broken, joined
from bugzoo.diagnostics._rank import Ranked

SOFTMAX = Broken(
    "contracts/cross_entropy_logits",
    "t.py",
    12,
    12,
    "It takes logits.",
    "It got a softmax.",
    "-",
    "-",
    "nothing learned",
    "",
)
STATISTICAL = Ranked("loss/double_softmax", 0.9, "the loss has a floor", "t.py", 4, ("double_normalisation",))
OTHER = Ranked("fit/capacity_too_small", 0.5, "it is small", None, None, ("generalisation",))


def test_one_cause_is_one_suspect_with_the_words_of_the_contract_and_the_line_of_the_instrument():
    first, second = joined([SOFTMAX], [OTHER, STATISTICAL])
    assert (first.cause, first.line, first.score) == ("loss/double_softmax", 4, 1.0)
    assert first.reason == "It takes logits. It got a softmax."
    assert first.instruments == ("contracts/cross_entropy_logits", "double_normalisation") and second == OTHER


def test_a_cause_without_a_line_gets_that_of_the_contract():
    first, _ = joined([SOFTMAX], [replace(STATISTICAL, line=None), OTHER])
    assert (first.cause, first.line) == ("loss/double_softmax", 12)


def test_a_contract_alone_is_itself_and_one_without_an_effect_is_no_suspect():
    assert [suspect.cause for suspect in joined([SOFTMAX], [OTHER])] == ["contracts/cross_entropy_logits", OTHER.cause]
    assert joined([replace(SOFTMAX, effect="")], [STATISTICAL]) == [STATISTICAL]
    assert joined([replace(SOFTMAX, silenced="on purpose")], [STATISTICAL]) == [STATISTICAL]


def test_two_places_of_a_contract_and_two_contracts_of_a_cause_are_one_suspect():
    assert len(joined([SOFTMAX, replace(SOFTMAX, line=20)], [STATISTICAL])) == 1
    dropout, wide = (
        replace(SOFTMAX, contract=f"contracts/functional_{name}_in_eval") for name in ("dropout", "dropout2d")
    )
    named = Ranked("modes/dropout_in_functional_form", 0.8, "it drops", None, None, ("mode_watch",))
    (only,) = joined([dropout, wide], [named])
    assert only.instruments == (dropout.contract, "mode_watch", wide.contract)
