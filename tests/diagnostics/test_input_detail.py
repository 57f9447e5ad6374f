"""What was cut off is told from what was made coarse on purpose, and from data that never held more."""

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.input_detail import _TABLE
from bugzoo.running import run_here


def fired(made: str) -> bool:
    """With inputs made of the table in this way."""
    source = example(("model = nn", _TABLE.format(made))).source
    reading = diagnostics.read("input_detail", run_here(source, file="made.py"))
    assert reading.applies, reading.why_not
    (verdict,) = diagnostics.judge_all({"input_detail": reading})
    return verdict.fired


@pytest.mark.parametrize("made", ["table", "(table / 8 - 0.3) / 0.2", "(table > 3).float()", "(table / 8).round()"])
def test_what_tells_enough_or_was_meant_is_left_in_peace(made):
    assert not fired(made)


@pytest.mark.parametrize("made", ["(table / 8).int().double().float()", "(table // 8)", "(table / 8).trunc()"])
def test_what_was_cut_off_is_found_however_it_was_written(made):
    assert fired(made)
