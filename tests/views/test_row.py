"""A row prints its number and its usual range, and knows whether the number lies in it."""

import math

import pytest

from bugzoo.diagnostics.numbers import ANY, Number, digits


@pytest.mark.parametrize(
    ("usual", "text"),
    [
        ((0, 0), "0"),
        ((-ANY, 0.5), "up to 0.5"),
        ((1e-4, ANY), "from 0.0001"),
        ((0.01, 5), "0.01 to 5"),
        (None, ""),
        ("that of the input", "that of the input"),
    ],
)
def test_usual_text(usual: tuple[float, float] | None, text: str) -> None:
    assert Number("a number", usual).usual_text() == text


def test_outside() -> None:
    row = Number("a number", (0, 1), source="a.b")
    assert [row.outside({"a.b": value}) for value in (0.0, 1.0, 1.5, -0.1, math.inf)] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert not row.outside({}) and not row.outside({"a.b": math.nan}) and not row.outside({"a.b": "text"})
    assert not Number("a fact", source="a.b").outside({"a.b": 1e9})


def test_what_was_not_measured_is_left_out() -> None:
    row = Number("a number", source="a")
    assert row.value({"a": math.nan}) is None and row.value({"a": ""}) is None and row.value({}) is None
    assert row.value({"a": 0.0}) == 0.0 and row.value({"a": "float32"}) == "float32"


def test_numbers_as_people_write_them() -> None:
    assert [digits(value) for value in (3.0, 0.12345, 1e7, math.inf, "x")] == ["3", "0.1235", "1e+07", "inf", "x"]
