"""Every number of every instrument stands in one view, or the table says why it stands in none."""

import importlib
import pkgutil

import pytest

from bugzoo import diagnostics, faults, views
from bugzoo.faults.evidence import parse
from bugzoo.views.table import ELSEWHERE, NOT_SHOWN, TABLE, TOOLS, views_of

SOURCES = {row.source: name for name in views.names() for row in views.rows(name)}


def test_the_list_names_each_file_once() -> None:
    files = {module.name for module in pkgutil.iter_modules(views.__path__) if not module.name.startswith("_")}
    assert len(views.names()) == len(set(views.names())) == 16
    assert files - {"row", "show", "table"} == set(views.names())


def test_every_instrument_has_its_view() -> None:
    assert set(TABLE) | set(TOOLS) == set(diagnostics.names()) and not set(TABLE) & set(TOOLS)
    assert set(TABLE.values()) | set(ELSEWHERE.values()) <= set(views.names())


@pytest.mark.parametrize("name", views.names())
def test_a_row_stands_where_the_table_says(name: str) -> None:
    for row in views.rows(name):
        if "." in row.source:
            assert views_of([row.source]) == [name], row.source
            assert row.source.split(".")[0] in diagnostics.names()


@pytest.mark.parametrize("name", sorted(TABLE))
def test_what_an_instrument_says_and_what_a_fault_claims_is_seen(name: str) -> None:
    told = [f"{name}.{key}" for key in diagnostics.instrument(name).SHOWN]
    claims = [text for fault in faults.catalogue().values() for text in (*fault.evidence, fault.effect)]
    told += [left for text in claims if text != "none" and (left := parse(text).left).startswith(f"{name}.")]
    missing = sorted({one for one in told if one not in SOURCES and one not in NOT_SHOWN})
    assert not missing, f"give it a Row in {TABLE[name]}, or a reason in NOT_SHOWN"


@pytest.mark.parametrize("name", views.names())
def test_a_view_and_checkup_say_the_same_of_a_number(name: str) -> None:
    for row in views.rows(name):
        instrument, _, key = row.source.rpartition(".")
        told = getattr(diagnostics.instrument(instrument), "SHOWN", {}) if instrument else {}
        assert told.get(key, (row.label, row.usual_text())) == (row.label, row.usual_text()), row.source


def test_no_reason_for_what_is_shown() -> None:
    assert not [one for one in NOT_SHOWN if one in SOURCES]
    assert not [one for one in (*NOT_SHOWN, *ELSEWHERE) if one.split(".")[0] not in diagnostics.names()]


def test_which_views_show_what() -> None:
    assert views_of(["clip_rate.used_share", "parameter_audit", "parameter_audit.largest_change", "no_such"]) == [
        "gradients", "weights", "updates",
    ]  # fmt: skip
    assert views_of(["company", "batch_independence.batch_leak"]) == ["repeat", "influence"], (
        "an old name, and one number"
    )


def test_a_claim_about_an_unknown_view_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(TABLE, "clip_rate")
    with pytest.raises(AssertionError):
        test_every_instrument_has_its_view()
    assert importlib.import_module("bugzoo.views.table").views_of(["clip_rate"]) == []
