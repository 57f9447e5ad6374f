"""What a failed check tells is a number, and nothing that names the cause: no word of the form, no suspect's reason."""

import re

import pytest

from bugzoo.diagnostics import instrument, names
from bugzoo.diagnostics._causes import CAUSES
from bugzoo.grading import checks
from bugzoo.grading.symptoms import symptom
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario
from bugzoo.watching.trace import Trace
from tests.diagnostics.test_judges import HEALTHY, SICK

SAID = {word.lower() for row in CAUSES.values() for word in (row.word, *row.also) if " " in word}
TELLING = {
    "softmax",
    "sigmoid",
    "logits",
    "frozen",
    "zero_grad",
    "eval mode",
    "training mode",
    "no_grad",
    "mask",
    "clear",
}
"""What the instruments' own messages say of causes."""


@pytest.mark.parametrize(("name", "change", "cause"), SICK)
def test_a_symptom_is_a_number_without_a_cause(name, change, cause):
    numbers = HEALTHY[name] | change
    assert instrument(name).judge(numbers).fired
    text = symptom(name, numbers)
    assert re.search(r"\d", text), text
    assert not [word for word in SAID | TELLING if re.search(rf"\b{re.escape(word)}", text.lower())], (cause, text)


def test_an_instrument_without_a_sentence_gives_its_numbers(monkeypatch):
    from bugzoo.grading import symptoms

    assert symptoms._SENTENCES.keys() <= set(names())
    monkeypatch.setattr(symptoms, "_SENTENCES", {})
    assert "stale share 1" in symptom("fresh_gradient", HEALTHY["fresh_gradient"] | {"stale_share": 1.0})


def test_the_checks_tell_it():
    numbers = HEALTHY["double_normalisation"] | {"softmax_before_loss": 1.0, "log_prob_spread": 0.9}
    run = Run(Trace(outcome="finished"), readings={"double_normalisation": Reading(numbers)})
    (alarm,) = [check for check in checks.vital(run) if check.name == "double_normalisation"]
    [(fault, _)] = Scenario("mlp", ("loss/double_softmax",)).specs
    for check in (alarm, checks.illness([fault], run)):
        assert not check.passed and "the rows that enter the loss sum to 1.00" in check.saw
    assert checks.illness([], run).passed
