"""Every number of every instrument stands in one view, or its record says why it stands in none."""

import importlib
import pkgutil
from dataclasses import fields, replace

import pytest

from bugzoo import diagnostics, faults, views
from bugzoo.diagnostics import numbers
from bugzoo.diagnostics.numbers import of_instrument
from bugzoo.faults.evidence import parse
from bugzoo.views import views_of

SOURCES = [row.source for name in views.names() for row in views.rows(name) if "." in row.source]


def test_the_list_names_each_file_once() -> None:
    files = {module.name for module in pkgutil.iter_modules(views.__path__) if not module.name.startswith("_")}
    assert len(views.names()) == len(set(views.names())) == 16
    assert files - {"show"} == set(views.names())


@pytest.mark.parametrize("name", diagnostics.names())
def test_each_number_stands_once_where_its_record_says(name: str) -> None:
    for number in of_instrument(name).values():
        stands = [view for view in views.names() if number in views.rows(view)]
        assert stands == ([] if number.hidden or name in diagnostics.tools() else [number.view]), number
        assert number.view in (*views.names(), "") and bool(number.view) == (name not in diagnostics.tools()), number
        assert SOURCES.count(number.source) == len(stands)


@pytest.mark.parametrize("name", diagnostics.names())
def test_the_record_in_the_text_is_the_class(name: str) -> None:
    record = diagnostics.instrument(name).Numbers
    labeled = {field.name: field.metadata["number"] for field in fields(record) if field.metadata}
    assert labeled == {
        key: replace(number, source="") for key, number in numbers.fields_of(numbers.file_of(name)).items()
    }


@pytest.mark.parametrize("name", sorted(set(diagnostics.names()) - set(diagnostics.tools())))
def test_what_a_fault_claims_of_an_instrument_has_a_record(name: str) -> None:
    claims = [
        text for fault in faults.catalogue().values() for text in (*fault.evidence, fault.effect) if text != "none"
    ]
    left = {parse(text).left for text in claims if parse(text).left.startswith(f"{name}.")}
    assert left <= {number.source for number in of_instrument(name).values()}


def test_which_views_show_what() -> None:
    assert views_of(["clip_rate.used_share", "parameter_audit", "parameter_audit.largest_change", "no_such"]) == [
        "gradients", "weights", "updates",
    ]  # fmt: skip
    assert views_of(["batch_independence", "batch_independence.batch_leak"]) == ["repeat", "influence"]
    assert views_of(["replay", "replay.step"]) == []


def test_an_instrument_without_a_view_is_a_tool() -> None:
    assert diagnostics.tools() == ("five_minute_checklist", "learning_rate_finder", "replay")
    for name in diagnostics.tools():
        assert not hasattr(importlib.import_module(f"bugzoo.diagnostics.{name}"), "VIEW")
