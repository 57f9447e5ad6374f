"""What comes: due causes first, each on another program and in other dialects, between look-alikes and what is well."""

import ast

import pytest

from bugzoo import dialects, faults
from bugzoo.cards import card as one_card
from bugzoo.cards.deck import programs_of
from bugzoo.cards.excerpt import hunks
from bugzoo.errors import UserError
from bugzoo.interview.deck import programs_of as drilled_on
from bugzoo.practice import deal, standing
from bugzoo.practice import hand as module
from bugzoo.practice.hand import ALIKE, DUE, NEW, WELL, drill
from bugzoo.practice.memory import DAY
from tests.practice.conftest import START

STALE = "loop/stale_gradients"
MISSED = (STALE, "loss/double_softmax", "attention/mask_after_softmax", "modes/eval_mode_missing", "data/leaky_split")


def on(day: float, *family: str):
    return standing(family, START + day * DAY)


def test_what_is_due_comes_first_and_then_what_is_new(said) -> None:
    for fault in MISSED:
        said(fault, False, 0)
    hand = deal(on(1), 12, 3)
    due = [one.card.fault for one in hand if one.why == DUE]
    assert sorted(due) == sorted(MISSED) and len(hand) == 12
    assert len({one.card.excerpt.text for one in hand}) == 12 and len({one.card.fault for one in hand}) == 12
    assert NEW in {one.why for one in hand}
    assert [one.card.key for one in hand] == [one.card.key for one in deal(on(1), 12, 3)]
    assert [one.card.key for one in hand] != [one.card.key for one in deal(on(1), 12, 4)]


def test_it_comes_back_on_another_program_in_other_dialects_under_another_ticket(said) -> None:
    met, tickets, texts = [], set(), set()
    for day in range(4):
        hand = deal(on(day + 0.5, "loop"), 20, 3)
        (card,) = [one.card for one in hand if one.card.fault == STALE and one.why != WELL]
        assert card.program not in met and card.dialect
        met.append(card.program)
        tickets.add(card.key)
        texts.add(card.excerpt.text)
        said(STALE, False, day + 0.5, program=card.program, dialect=card.dialect)
    assert len(tickets) == len(texts) == 4
    everywhere = programs_of(STALE)
    for day, program in enumerate(everywhere):
        said(STALE, False, 10 + day, program=program)
    (card,) = [one.card for one in deal(on(40, "loop"), 20, 3) if one.card.fault == STALE and one.why != WELL]
    assert card.program == everywhere[0], "of all that were met the one that is longest ago"


@pytest.mark.slow
def test_look_alikes_and_what_is_well_come_between() -> None:
    hand = deal(standing(), 24, 5)
    why = [one.why for one in hand]
    assert why.count(ALIKE) >= 4 and why.count(WELL) >= 2 and why.count(NEW) >= 12
    asked = {one.card.fault for one in hand if one.why in (DUE, NEW)}
    likes = {other.other for name in asked for other in faults.load(name).look_alikes}
    assert {one.card.fault for one in hand if one.why == ALIKE} <= likes
    assert all(one.card.healthy for one in hand if one.why == WELL)
    kinds = {faults.load(one.card.fault).trap for one in hand if one.why == WELL}
    assert kinds == {True, False}, "traps, and lines in which nothing was changed"
    places = [place for place, one in enumerate(hand) if one.why == NEW]
    assert places != list(range(len(places))), "nobody can tell from its place why a card comes"


def test_a_fault_that_is_added_moves_few(monkeypatch) -> None:
    before = {one.card.key for one in deal(standing(), 8, 3)}
    whole = dict(faults.catalogue())
    gone = next(name for name in whole if name.startswith("speed/"))
    monkeypatch.setattr(faults, "catalogue", lambda: {name: one for name, one in whole.items() if name != gone})
    assert len(before - {one.card.key for one in deal(standing(), 8, 3)}) <= 2


@pytest.mark.parametrize("count", [0, -1, 101])
def test_bad_counts(count) -> None:
    with pytest.raises(UserError, match="1 to 100"):
        deal(standing(), count)


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", [one.id for one in faults.catalogue().values() if ":" not in one.id and not one.trap])
def test_cards_in_dialects_show_the_fault_and_nothing_beside_it(name) -> None:
    plain = next(filter(None, (one_card.make(name, program) for program in programs_of(name))), None)
    if plain is None:
        pytest.skip("it waits for its proof, or no ten lines show it")
    card = one_card.make(name, plain.program, seed=7, dialect=f"3:{name}")
    assert card and card.dialect and card.key != plain.key
    assert name.split("/")[1] not in card.excerpt.text and card.shown and set(card.wrong) & set(card.allowed)
    assert len(card.shown) <= 2 * len(plain.shown) + 6


def test_both_texts_of_a_card_are_python_and_differ_where_the_fault_is() -> None:
    scenario = one_card.Scenario("mlp", (STALE,))
    ill, well, dialect = one_card._written(scenario, "a dialect")
    assert dialect and ill != scenario.source and len(hunks(well, ill)) == len(hunks(scenario.base, scenario.source))
    ast.parse(ill), ast.parse(well)
    assert one_card._written(scenario, "") == (scenario.source, scenario.base, "")


def test_a_draw_that_differs_in_more_than_the_fault_is_left_out(monkeypatch) -> None:
    """With twelve dialects the broken text of this draw is cut into functions at another place than its twin."""
    scenario = one_card.Scenario("mlp", (STALE,))
    broken, made = dialects.apply(scenario.source, "1/0", 12)
    intact, _ = dialects.apply(scenario.base, "1/0", len(made), made)
    assert len(hunks(intact, broken)) > len(hunks(scenario.base, scenario.source)), "take another draw"
    monkeypatch.setattr(one_card, "DIALECTS", (12,))
    assert one_card._written(scenario, "1") == (scenario.source, scenario.base, "")


def test_where_no_dialect_keeps_the_lines_together_the_card_is_plain(monkeypatch) -> None:
    monkeypatch.setattr(one_card, "excerpt", lambda before, after: None)
    scenario = one_card.Scenario("mlp", (STALE,))
    assert one_card._written(scenario, "a dialect") == (scenario.source, scenario.base, "")


def test_a_drill_is_of_what_is_due_on_a_program_that_can_be_graded(said, monkeypatch) -> None:
    said("loss/double_softmax", True, 0)
    said(STALE, False, 0)
    cause, program = drill(on(1), 3)
    assert cause == STALE and program in drilled_on(faults.load(STALE)) and program != "mlp"
    monkeypatch.setattr(module, "_wanted", lambda now, seed: iter(()))
    with pytest.raises(UserError, match="leave --family out"):
        drill(on(1), 3)
