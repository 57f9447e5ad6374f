"""The eight questions: each has a real fault behind it, own words find its numbers, and its cause can be named."""

import json

import pytest

from bugzoo import diagnostics, faults
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.interview.deck import WEIGHTS
from bugzoo.interview.evidence import PRINTED, TWIN
from bugzoo.interview.spoken import CASES, load, talk
from bugzoo.interview.spoken.sheet import sheet
from tests.cli.conftest import bugzoo

__all__ = ["bugzoo"]

SAID = [
    ("show me the loss curve beside a healthy run", TWIN),
    ("what did it print, is there a traceback?", PRINTED),
    ("at which step is the first nan and which operation made it", "first_non_finite"),
    ("the gradient norms of each layer", "gradient_health"),
    ("where does the time of a step go, data loading or the backward pass? I would run a profiler", "step_timeline"),
    ("stacks of both ranks with py-spy", "rank_check"),
    ("is there an overlap between train and validation samples", "train_validation_overlap"),
    ("from which rows were mean and deviation of the normalisation computed", "normalisation_source"),
    ("how many gradients underflow to zero in fp16, is a GradScaler used", "scale_watch"),
]
CAUSES = {
    "nan_in_the_loss": "the hand-written softmax overflows: exp of large logits without subtracting the maximum",
    "barely_moves": "it steps every fourth batch and never calls zero_grad, the gradients add up",
    "memory_in_training": "the batch is too large, its activations do not fit into memory",
    "train_and_test_apart": "it overfits, there is no regularisation",
    "worse_in_production": "mean and deviation for the normalisation come from all rows, test rows among them",
    "busy_for_a_fifth": "the data loader is too slow, num_workers is 0 and the transform is costly, so the model waits",
    "all_wait": "one rank skips a batch and does not reach the all_reduce of the others",
    "half_precision": "there is no gradient scaler, small gradients underflow in half precision",
}


def test_the_eight() -> None:
    assert len(CASES) == 8 and {one.topic for one in CASES} == set(WEIGHTS)
    for one in CASES:
        [(fault, _)] = one.scenario.specs
        assert fault.id in faults.catalogue() and not fault.trap
        told = f"{one.says} {' '.join(question for question, _, _ in one.then)}"
        assert fault.title not in told and fault.fix not in told
        page = sheet(one)
        assert fault.why in page and all(text in page for row in one.then for text in row)
    with pytest.raises(UserError, match="Did you mean"):
        load("all_waits")


@pytest.mark.parametrize(("text", "name"), SAID)
def test_a_request_in_own_words(text: str, name: str) -> None:
    assert talk.meant(text)[0] == name, talk._table().ranked(text)[:4]


def test_a_request_for_nothing() -> None:
    assert talk.meant("hello, nice weather today") == []
    assert set(talk.ALSO) <= {*diagnostics.names(), TWIN, PRINTED}


@pytest.mark.parametrize("name", CAUSES)
def test_the_cause_in_own_words(name: str) -> None:
    assert talk.names_cause(CAUSES[name], load(name))
    other = next(text for key, text in CAUSES.items() if load(key).program != load(name).program)
    assert not talk.names_cause(other, load(name)), other


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [one.name for one in CASES])
def test_a_conversation(name: str) -> None:
    """The instrument of the fault's evidence is asked for by its question, and its numbers are those of a real run."""
    case, said = load(name), []
    [(fault, _)] = case.scenario.specs
    wanted = parse(fault.evidence[0]).instrument
    ask = (
        diagnostics.question(wanted) + talk.ALSO.get(wanted, "")
        if wanted in diagnostics.names()
        else "what did it print"
    )
    lines = [ask, "the weather", "cause: the phase of the moon", f"cause: {CAUSES[name]}", "never read"]
    result = talk.play(case, iter(lines), said.append)
    assert result["found"] and result["guesses"] == 2
    assert result["asked"][0]["shown"] and result["asked"][1]["shown"] == []
    shown = "\n".join(said)
    assert "Nobody measured that" in shown and ("=" in shown or "the run ended as" in shown)


def test_the_command(bugzoo) -> None:
    rows = json.loads(bugzoo("spoken", "--json").out)
    assert [row["weight"] for row in rows] == sorted((row["weight"] for row in rows), reverse=True)
    assert "Follow-ups" in bugzoo("spoken", "all_wait", "--sheet").out
    for words in (("spoken", "nothing"), ("spoken", "--sheet")):
        done = bugzoo(*words)
        assert done.code == 2 and "bugzoo spoken" in done.err
