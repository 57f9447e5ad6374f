"""An assignment's form: Hand in hands in, what is missing is said, and the cell's output holds what is graded."""

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.instructor import cell
from bugzoo.instructor.finding_form import FindingForm, standing
from bugzoo.instructor.form_records import MIME, latest, read
from bugzoo.lab import page
from tests.lab.conftest import front_end  # noqa: F401

RATE, MASK = "a wrong learning rate", "a mask in the wrong place"
SOURCE = "a = 1\nb = 2\nc = 3\n"


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch, front_end) -> Iterator[list[dict[str, Any]]]:  # noqa: F811
    """What the output of each shown form holds, as it would be saved."""
    bundles: list[dict[str, Any]] = []

    def put(_: Any) -> Any:
        bundles.append({})
        bundle = bundles[-1]
        return SimpleNamespace(update=lambda data, raw: (bundle.clear(), bundle.update(data)))

    monkeypatch.setattr(page, "put", put)
    yield bundles


def saved(cells: list[dict[str, Any]], ticket: str = "C-1") -> list[dict[str, Any]]:
    """What a grader reads of a notebook with these outputs."""
    records, notes = read({"cells": [{"outputs": [{"data": data}]} for data in cells]})
    assert notes == []
    return latest(records, ticket)[0]


def made(number: int = 1) -> FindingForm:
    return FindingForm("C-1", number, SOURCE)


def test_it_asks_for_what_is_graded_and_nothing_else(cells) -> None:
    face = made().show().face
    assert [name for name in ("test", "step", "sure", "seen") if hasattr(face, name)] == []
    assert list(face.carried.controls) == ["cause", "place"]
    assert "nothing is wrong" not in face.form.causes and face.cause.value is None
    assert [label for label, _ in face.place.options][1:] == ["   1  a = 1", "   2  b = 2", "   3  c = 3"]


def test_half_filled_hands_nothing_in_and_says_what_is_missing(cells) -> None:
    form = made().show()
    for cause, line, word in ((None, None, "a cause and a line"), (RATE, None, "a line"), (None, 2, "a cause")):
        form.face.cause.value, form.face.place.value = cause, line
        form.face.button.click()
        assert f"Nothing was handed in. Choose {word} first." in form.face.told.value
        assert MIME not in cells[0] and record.notes("C-1/1") == [] and not form.handed_in
    number = FindingForm("C-1", 2).show()  # without the program's text the line is typed
    number.face.cause.value, number.face.place.value = RATE, "soon"
    number.face.button.click()
    assert "a whole number of at least 1, not &#x27;soon&#x27;" in number.face.told.value
    assert saved(cells) == [{}, {}, {}]


def test_hand_in_is_what_a_grader_reads(cells) -> None:
    record.note("C-1/1", "looked", {"view": "gradients"})
    form = made().show()
    form.face.cause.value, form.face.place.value = RATE, 2
    form.face.button.click()
    assert "Handed in at " in form.face.told.value and "Save the notebook (Ctrl+S)" in form.face.told.value
    assert "typed call" not in form.face.told.value and "a view" not in form.face.told.value
    assert saved(cells) == [{"cause": RATE, "place": 2, "evidence": ["gradients"]}, {}, {}]
    assert f"Handed in: finding 1: {RATE}, line 2, view gradients." in cells[0]["text/plain"]

    form.face.cause.value = MASK  # pressing again replaces
    form.face.button.click()
    assert saved(cells)[0]["cause"] == MASK
    form.face.place.value = None  # half filled again: what was handed in before stays, and it is said
    form.face.button.click()
    assert "What you handed in before stays" in form.face.told.value and saved(cells)[0]["place"] == 2
    assert form.face.told.value.count("Handed in at") == 0


def test_without_a_view_it_is_said_at_once(cells) -> None:
    form = made().show()
    form.face.cause.value, form.face.place.value = RATE, 2
    form.face.button.click()
    assert "You have not opened a view yet" in form.face.told.value


def test_run_again_the_output_is_the_same(cells) -> None:
    """Run All after the notebook was opened again: nothing is pressed, and nothing is lost."""
    form = made().show()
    form.face.cause.value, form.face.place.value = RATE, 2
    form.face.button.click()
    before = dict(cells[0])
    cells.clear()
    again = made().show()
    assert cells[0] == before and again.face.cause.value == RATE and again.face.place.value == 2
    assert "Hand in again to replace it" in again.face.told.value


def test_every_cell_that_shows_the_form_holds_the_latest(cells) -> None:
    form = made().show()
    form.show()
    form.faces[0].cause.value, form.faces[0].place.value = RATE, 1
    form.faces[0].button.click()
    assert cells[0] == cells[1] and saved(cells[1:])[0]["place"] == 1


def test_a_withdrawn_finding_stays_withdrawn(cells) -> None:
    form = made(2).show()
    form.face.cause.value, form.face.place.value = RATE, 2
    form.face.button.click()
    stale = dict(cells[0])  # of a cell that was copied before
    form.face.back.click()
    assert "Withdrawn at" in form.face.told.value and form.face.cause.value is None and form.face.place.value is None
    assert saved([cells[0], stale]) == [{}, {}, {}] and "nothing handed in" in cells[0]["text/plain"]
    cells.clear()
    again = made(2).show()
    assert not again.handed_in and again.face.cause.value is None and saved([cells[0], stale]) == [{}, {}, {}]


def test_a_typed_call_counts_and_the_form_says_so(cells) -> None:
    form = made().show()
    form.hand_in(cause="lr", place="line 3")
    assert saved(cells)[0] == {"cause": RATE, "place": 3, "evidence": []}
    form.face.cause.value, form.face.place.value = MASK, 1
    form.face.button.click()
    notice = form.face.told.value
    assert "A cell also calls first.hand_in(...), and a typed call counts before the form." in notice
    assert saved(cells)[0]["cause"] == MASK, "the output is the form's; the grader lays the call over it"
    assert f"finding 1: {RATE}, line 3" in standing([form])
    with pytest.raises(UserError, match="Choose one of"):
        form.hand_in(cause="gremlins")
    form.face.back.click()
    assert "typed call counts before the form" in form.face.told.value and f"finding 1: {RATE}" in standing([form])
    form.withdraw()
    assert saved(cells)[0] == {} and standing([form]).startswith("Handed in:\n  finding 1: nothing")


def test_the_self_check_says_exactly_what_is_handed_in(cells, capsys, monkeypatch) -> None:
    forms = [made(number) for number in (1, 2, 3)]
    assert cell.diagnosis("week_3", *forms) == 0.0
    printed = capsys.readouterr().out
    assert (
        "  finding 1: nothing\n  finding 2: nothing\n  finding 3: nothing\n" in printed and "press Hand in" in printed
    )
    record.note("C-1/2", "looked", {"view": "layers"})
    forms[0].hand_in(cause=RATE)
    forms[1].press(MASK, 2)
    cell.diagnosis("week_3", *forms)
    printed = capsys.readouterr().out
    assert (
        f"finding 1: {RATE}, no line, no view\n  finding 2: {MASK}, line 2, view layers\n  finding 3: nothing"
        in printed
    )
    assert "Save the notebook (Ctrl+S): that is what is graded." in printed
    assert "Finding 1 has no line" in printed and "Finding 1 has no view" in printed and "Finding 2 has" not in printed
    cell.diagnosis("week_3", 1, 2, 3)
    assert "cannot be graded. The forms' names were overwritten" in capsys.readouterr().out
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")  # nbgrader's button: it sees neither record nor outputs
    cell.diagnosis("week_3", *(made(number) for number in (1, 2, 3)))
    printed = capsys.readouterr().out
    assert "Validate does not see the forms" in printed and "nothing" not in printed


def test_without_widgets_the_output_holds_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """In an editor without widgets, and after `jupyter execute`: by the cell that shows it, and by the typed call."""
    bundles: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: bundles.append(data))
    form = made().show()
    assert "first.hand_in(cause=..., place=<line>)" in bundles[0]["text/plain"] and MIME not in bundles[0]
    form.hand_in(cause=RATE, place=2)
    assert saved(bundles) == [{"cause": RATE, "place": 2, "evidence": []}, {}, {}]
    bundles.clear()
    _, second, third = cell.forms("C-1")
    assert saved(bundles)[0]["place"] == 2 and len(bundles) == 1 and not (second.at or third.at)
    third.hand_in(cause=MASK, place=1)
    bundles.clear()
    cell.forms("C-1")  # a form that is not shown by a cell of its own is not lost
    assert [finding["cause"] for finding in saved(bundles) if finding] == [RATE, MASK] and len(bundles) == 2


def test_an_old_notebook_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttributeError, match="Skip this cell"):
        cell.hypothesis("C-1")
    assert "NBGRADER_EXECUTION" not in os.environ
