"""Drawing: by weight, the same for one seed, and nothing given away."""

from collections import Counter

import pytest

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.faults.model import SYMPTOMS
from bugzoo.grading import quick
from bugzoo.grading.model import Check, Result
from bugzoo.interview import deck, repair
from bugzoo.interview.session import brief
from bugzoo.proving.tried import impossible
from bugzoo.scenario import Scenario, fits
from tests.sampling import only_in_prove


def test_every_symptom_has_a_topic_with_a_weight():
    assert set(deck.BY_SYMPTOM) == set(SYMPTOMS) - {"none"}
    assert set(deck.BY_SYMPTOM.values()) == set(deck.WEIGHTS)


def test_one_seed_one_case():
    assert [deck.draw(seed).ticket for seed in range(20)] == [deck.draw(seed).ticket for seed in range(20)]
    assert len({deck.draw(seed).ticket for seed in range(20)}) > 10


def test_topics_come_by_weight():
    count = Counter(deck.choose(seed)[0] for seed in range(400))
    present = deck.topics(faults.catalogue())
    whole = sum(weight for topic, weight in deck.WEIGHTS.items() if topic in present)
    for topic, weight in deck.WEIGHTS.items():
        if topic in present:
            expected = 400 * weight / whole * (1 - deck.HEALTHY_SHARE)
            assert abs(count[topic] - expected) < 4.5 * expected**0.5 + 3, (topic, count[topic], expected)
    assert 10 < count["nothing is wrong"] < 90


def test_an_unknown_case():
    with pytest.raises(UserError, match="Did you mean loop/stale_gradients"):
        deck.draw(1, "loop/stale_gradient")


@pytest.mark.parametrize("fault", [one.id for one in faults.catalogue().values() if not one.needs.cuda])
def test_nothing_that_the_candidate_gets_names_the_fault(fault):
    for program in fits(faults.load(fault))[:2]:
        case = deck.draw(1, fault, program)
        text = "\n".join([brief(case, 5), case.scenario.source, case.ticket]).lower()
        for secret in (fault, fault.split("/")[1], case.fault.title.lower()):
            assert secret not in text, (program, secret)


@pytest.mark.slow
@pytest.mark.parametrize("share", [4, only_in_prove(1)], ids=["a quarter", "all"])
def test_what_can_be_drawn_is_what_is_proved(share):
    """Beside its seed a case is a cell of the ledger, whose repairs and pretences were put to the same grader."""
    for fault in list(faults.catalogue().values())[::share]:
        for program in deck.programs_of(fault):
            case, cell = deck.draw(734, fault.id, program), Scenario(program, (fault.id,), seed=734)
            assert (case.scenario.source, case.scenario.facts) == (cell.source, cell.facts)
            assert case.scenario.specs == cell.specs and not case.scenario.settings and case.scenario.size == cell.size
            assert not impossible(fault, program) and program in fits(fault)
    pairs = {(fault.id, program) for _, fault, program in map(deck.choose, range(300))}
    assert len(pairs) > 40 and all(program in deck.programs_of(faults.load(name)) for name, program in pairs)


@pytest.fixture
def nothing_known():
    """What can be drawn is worked out again, before and after."""
    deck._table.cache_clear()
    yield
    deck._table.cache_clear()


def test_what_cannot_be_graded_is_not_drawn(monkeypatch, nothing_known):
    monkeypatch.setattr(deck, "impossible", lambda fault, program: "there is no data" if program == "mlp" else "")
    assert "mlp" not in {deck.choose(seed)[2] for seed in range(300)}
    with pytest.raises(UserError, match="loss/double_softmax on mlp cannot be an interview: there is no data"):
        deck.draw(1, "loss/double_softmax", "mlp")
    monkeypatch.setattr(deck, "impossible", lambda fault, program: "it needs a CUDA device")
    deck._table.cache_clear()
    with pytest.raises(UserError, match="There is no fault to draw from"):
        deck.choose(1)
    with pytest.raises(UserError, match="cannot be an interview"):
        deck.draw(1, "loss/double_softmax")


@pytest.mark.parametrize(
    ("failed", "title", "runs"), [("loss", "Loss on new data", 2), ("symptom", "What was wrong", 1)]
)
def test_a_file_is_judged_as_the_cell_was(monkeypatch, failed, title, runs):
    calls = []

    def grade(source, scenario, *, seeds, seconds):
        calls.append(seeds)
        return Result("wrong", checks=[Check(failed, "wrong", "why")])

    monkeypatch.setattr(quick, "grade", grade)
    case = deck.draw(1734, "loss/double_softmax", "mlp")
    assert repair.grade(case, "")["why"] == f"{title}: why"
    assert calls == [(734,), (734, 735, 736)][:runs]
