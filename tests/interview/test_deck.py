"""Drawing: by weight, the same for one seed, and nothing given away."""

from collections import Counter

import pytest

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.faults.model import SYMPTOMS
from bugzoo.interview import deck
from bugzoo.interview.session import brief
from bugzoo.scenario import fits


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


@pytest.mark.parametrize("fault", list(faults.catalogue()))
def test_nothing_that_the_candidate_gets_names_the_fault(fault):
    for program in fits(faults.load(fault)):
        case = deck.draw(1, fault, program)
        shown = "\n".join([brief(case, 5), case.scenario.source, case.ticket]).lower()
        for secret in (fault, fault.split("/")[1], case.fault.title.lower()):
            assert secret not in shown, (program, secret)
