"""Cards: every one shows its fault in a few lines, the right lines count, and the same seed deals the same."""

import json
import os
import subprocess
import sys

import pytest

from bugzoo import cards, faults, record
from bugzoo.cards import card as one_card
from bugzoo.cards import deck
from bugzoo.cards.excerpt import GAP, LINES, MOST, excerpt, hunks
from bugzoo.errors import UserError
from bugzoo.scenario import Scenario, fits


@pytest.fixture(autouse=True)
def _own_record(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))


@pytest.fixture(scope="module")
def all_cards() -> list[cards.Card]:
    return list(cards.inventory())


def test_there_are_at_least_three_hundred_and_all_differ(all_cards) -> None:
    assert len(all_cards) >= 300
    assert len({one.key for one in all_cards}) == len(all_cards)
    assert len({one.family for one in all_cards}) >= 20


def test_each_shows_what_was_changed_and_nothing_that_tells(all_cards) -> None:
    for one in all_cards:
        lines = one.excerpt.lines
        assert 2 <= len(lines) <= MOST, one.key
        assert set(one.excerpt.marked) & {number for number, _ in lines}, one.key
        name = one.fault.split("/")[1]
        assert name not in one.excerpt.text and name.replace("_", " ") not in one.excerpt.text, one.key
        assert one.healthy == faults.load(one.fault).trap
        assert one.healthy or one.shown, f"{one.key} shows no difference afterwards"


def test_every_family_has_cards(all_cards) -> None:
    assert set(cards.families()) == {one.family for one in all_cards}


def test_any_line_that_was_touched_is_right_and_another_is_told(all_cards) -> None:
    ill = next(one for one in all_cards if not one.healthy)
    other = next(line for line in ill.allowed if line not in ill.wrong and line)
    for line in ill.wrong:
        if line in ill.allowed:
            assert ill.answer(line, 1.0)[0]
    right, told = ill.answer(other, 2.5)
    assert not right and str(ill.wrong[0]) in told and ill.cause in told
    assert not ill.answer(0, 1.0)[0]
    noted = record.notes(ill.key, "card")
    assert noted[-2]["line"] == other and noted[-2]["seconds"] == 2.5 and noted[-2]["right"] is False
    with pytest.raises(UserError, match="no line of this card"):
        ill.answer(99_999, 1.0)


def test_lines_that_are_well_are_a_card_too() -> None:
    well = one_card.make("loop/stale_gradients", "mlp", healthy=True)
    assert well and well.healthy and well.wrong == (0,) and "zero_grad" in well.excerpt.text
    assert well.answer(0, 1.0)[0] and not well.answer(well.allowed[1], 1.0)[0]
    ill = one_card.make("loop/stale_gradients", "mlp")
    assert ill and "zero_grad" not in ill.excerpt.text and any("zero_grad" in line for line in ill.shown)
    assert one_card.make("traps/log_softmax_first", "mlp", healthy=True) is None


def test_a_seed_deals_the_same_and_a_new_fault_moves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [one.key for one in cards.deal(6, 3)]
    assert first == [one.key for one in cards.deal(6, 3)] != [one.key for one in cards.deal(6, 4)]
    whole = dict(faults.catalogue())
    gone = next(name for name in reversed(whole) if name not in {one.fault for one in cards.deal(6, 3)})
    monkeypatch.setattr(faults, "catalogue", lambda: {name: one for name, one in whole.items() if name != gone})
    assert first == [one.key for one in cards.deal(6, 3)]


def test_a_hand_shows_no_fault_twice_while_there_are_others_and_then_on_another_program() -> None:
    hand = cards.deal(8, 1, family=("loss",))
    assert len({one.fault for one in hand}) == 8 and {one.family for one in hand} <= {"loss", "traps"}
    long = cards.deal(40, 1, family=("clipping",))
    assert len(long) < 40 and len({one.excerpt.text for one in long}) == len(long)


def test_a_lesson_draws_from_the_families_of_its_cases() -> None:
    assert cards.families("03") == ("numerics",)
    assert {one.family for one in cards.deal(5, 0, lesson="03")} <= {"numerics", "traps"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"count": 0}, "1 to 100"),
        ({"family": ("los",)}, "loss"),
        ({"lesson": "03", "family": ("loss",)}, "Name one"),
        ({"lesson": "instructor"}, "no cards belong to it"),
        ({"lesson": "nope"}, "bugzoo lessons list"),
    ],
)
def test_bad_wishes(asked, said) -> None:
    with pytest.raises(UserError, match=said):
        cards.deal(**asked)


def test_nothing_that_waits_for_its_proof_is_dealt(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "waiting.txt").write_text("loss/double_softmax on mlp\n")
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path))
    assert "mlp" in fits(faults.load("loss/double_softmax")) and "mlp" not in deck.programs_of("loss/double_softmax")


def test_an_excerpt_of_two_places_has_a_gap_and_one_that_is_too_long_is_none() -> None:
    text = "\n".join(f"line{n} = {n}" for n in range(1, 60))
    two = text.replace("line5 =", "five =").replace("line40 =", "forty =")
    made = excerpt(text, two)
    assert made and (0, GAP) in made.lines and made.marked == (5, 40) and len(made.lines) <= MOST
    assert excerpt(text, text) is None
    assert excerpt(text, "\n".join(f"other{n}" for n in range(1, 60))) is None
    one = excerpt(text, text.replace("line30 =", "thirty ="))
    assert one and len(one.lines) == LINES and one.marked == (30,)
    assert hunks(f"import math\n{text}", f"import math, os\n{two}") == [(6, 6), (41, 41)]


def test_with_lines_removed_the_neighbours_count() -> None:
    scenario = Scenario("mlp", ("loop/stale_gradients",))
    [(start, end)] = hunks(scenario.base, scenario.source)
    assert end == start + 1


def test_in_a_notebook(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    hand = cards.Hand(cards.deal(2, 3)).show()
    assert "Card 2 of 2" in capsys.readouterr().out
    first = hand.cards[0]
    told = hand.answer(1, first.wrong[0])
    assert told.startswith("Right") and hand.score == (1, 1)
    assert hand.answer(1, first.allowed[-1]) == told and hand.score == (1, 1), "the first answer counts"
    with pytest.raises(UserError, match="no card 3"):
        hand.answer(3, 0)


def test_at_a_terminal_a_pipe_answers_and_what_was_said_stays(tmp_path) -> None:
    hand = cards.deal(3, 3, family=("loss", "loop"))
    said = [str(hand[0].wrong[0]), "nonsense", "12345", "0"]
    command = [sys.executable, "-m", "bugzoo", "cards", "--seed", "3", "--count", "3", "--json"]
    command += ["--family", "loss", "--family", "loop"]
    done = subprocess.run(
        command, input="\n".join(said), text=True, capture_output=True, timeout=120,
        env=os.environ | {"BUGZOO_DATA": str(tmp_path / "data")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [one["right"] for one in result["answered"]] == [True, hand[1].healthy]
    assert result["cards"] == 3 and result["seed"] == 3 and "'nonsense' is no line" in done.stderr
    assert [one["kind"] for one in record.notes(hand[0].key)] == ["card"]
