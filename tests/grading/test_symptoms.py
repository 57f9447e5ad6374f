"""What a failed check tells is a number, and nothing that names the cause: no word of the form, no suspect's reason."""

import re

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics import instrument, names
from bugzoo.diagnostics.causes import rows
from bugzoo.grading import checks
from bugzoo.grading.lines import TITLES
from bugzoo.grading.submission import Submission
from bugzoo.grading.symptoms import PASSES, symptom, title, told
from bugzoo.grading.vital import vital
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario
from bugzoo.watching.trace import Trace
from tests import voice
from tests.diagnostics.test_judges import HEALTHY, SICK

THINGS = {"learning rate"}
"""Words of the form that only name a thing."""
SAID = {word.lower() for row in rows().values() for word in (row.word, *row.also) if " " in word} - THINGS
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
    text, passes = told(name, numbers)
    assert re.search(r"\d", text) and passes != PASSES, text
    assert text.endswith(".") and not list(voice.long_ones(text)), text
    assert passes.endswith(".") and not list(voice.long_ones(passes)), passes
    assert not [word for word in SAID | TELLING if re.search(rf"\b{re.escape(word)}", f"{text} {passes}".lower())], (
        cause,
        text,
    )


def test_an_instrument_without_a_sentence_gives_its_numbers(monkeypatch):
    monkeypatch.setattr(instrument("fresh_gradient"), "ALARMS", ())
    monkeypatch.setattr(diagnostics, "declared", lambda name: {})
    text = symptom("fresh_gradient", HEALTHY["fresh_gradient"] | {"stale_share": 1.0})
    assert "share of steps that begin with a gradient other than 0: 1 (usually 0 to 0.1)." in text
    assert title("fresh_gradient") == "Fresh gradient" and "_" not in text and not list(voice.long_ones(text))


@pytest.mark.parametrize("numbers", [{}, {"stale_share": "many"}, {"stale_share": 0.5, "empty_share": None}])
def test_numbers_of_any_kind_are_told_without_an_error(numbers):
    """A submission's process may return anything."""
    for name in names():
        assert all(text.endswith((".", "?")) for text in told(name, numbers)), name


def test_every_instrument_that_accuses_has_a_title_and_sentences():
    accusing = {name for name in names() if getattr(instrument(name), "ACCUSES", True)}
    assert accusing == {name for name in names() if getattr(instrument(name), "ALARMS", ())}
    assert accusing == {name for name in names() if "TITLE" in diagnostics.declared(name)}
    titles = [title(name) for name in accusing]
    assert len(set(titles)) == len(titles) and not set(titles) & set(TITLES.values())
    assert all("_" not in text and text[0].isupper() and len(text.split()) <= 8 for text in titles), titles
    assert title("accuracy") == ""


def test_the_checks_tell_it():
    numbers = HEALTHY["double_normalisation"] | {"softmax_before_loss": 1.0, "log_prob_spread": 0.9}
    run = Run(Trace(outcome="finished"), readings={"double_normalisation": Reading(numbers)})
    (alarm,) = [check for check in vital(run) if check.name == "double_normalisation"]
    case = Scenario("mlp", ("loss/double_softmax",))
    for check in (alarm, *checks.illness(Submission(run, case))):
        assert not check.passed and check.group == "gone" and "Each sums to 1.00" in check.saw
    assert str(alarm).startswith("NO  Inputs of the loss: ") and str(alarm).endswith(" More than 1 nat passes.")
    [gone] = checks.illness(Submission(run, case.healthy()))
    assert gone.passed
