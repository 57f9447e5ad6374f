"""Healthy programs lie in every usual range, and proved faults outside one, as measured and written down."""

from pathlib import Path
from typing import Any

import pytest

from bugzoo import diagnostics, faults, programs, views
from bugzoo.diagnostics.numbers import of_instrument
from bugzoo.faults.evidence import parse
from bugzoo.proving import ledger
from bugzoo.views import views_of
from tests.benchmarks.usual_ranges import read

ROOT = Path(__file__).resolve().parents[2]
ROWS = {row.source: row for name in views.names() for row in views.rows(name)}
HIDDEN = {one.source for name in diagnostics.names() for one in of_instrument(name).values() if one.hidden}


def written() -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """{program: {size: {view: {source: number}}}}, as `python -m tests.benchmarks.usual_ranges --save` writes it."""
    return read(ROOT / "proofs/views.json")


@pytest.fixture(autouse=True)
def committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_PROOFS", str(ROOT / "proofs"))  # it is only read here


@pytest.mark.parametrize("name", views.names())
def test_healthy_programs_lie_in_every_range(name: str) -> None:
    measured = written()
    assert set(measured) == set(programs.names())
    for program, sizes in measured.items():
        for size, readings in sizes.items():
            outside = {row.label: readings[name][row.source] for row in views.rows(name) if row.outside(readings[name])}
            assert not outside, (program, size)


def test_every_range_was_measured_on_a_program() -> None:
    sources = {
        source
        for sizes in written().values()
        for readings in sizes.values()
        for rows in readings.values()
        for source in rows
    }
    never = sorted(source for source, row in ROWS.items() if row.range is not None and source not in sources)
    assert never == sorted(NEVER), "a range that no healthy program has shown"


NEVER = {
    "devices": "measured only where a run ended with an error",
    "steps_that_fit": "measured only where memory ran out",
    "worker_noise.identical": "no program's workers draw random numbers",
    "worker_noise.repeated": "no program's workers draw random numbers",
}
"""Rows with a range that no program measures in a healthy run, with the reason."""


@pytest.mark.parametrize(
    "fault", [fault for fault in faults.catalogue().values() if not fault.trap], ids=lambda one: one.id
)
def test_a_proved_fault_shows(fault: Any) -> None:
    """By the ledger's numbers: a claim of the fault has a row, and the broken runs lie outside its usual range.

    Where a claim is about a flag, its record says by which row of the view it shows; those are measured in `make prove`.
    """
    claims = [parse(text).left for text in (*fault.evidence, fault.effect)]
    if any(left.split(".")[0] == "outcome" for left in claims):
        return  # the run ends with an error, which every learner sees
    cells = ledger.read("faults", fault.id).get("cells", {})
    assert cells or fault.needs.cuda or f"{fault.id} on " in (ROOT / "proofs/waiting.txt").read_text(encoding="utf-8")
    outside = {
        program: [left for left in claims if left in ROWS and _outside(left, cell["numbers"].get(left, {}))]
        for program, cell in cells.items()
        if not cell.get("problems")
    }
    silent = [program for program, rows in outside.items() if not rows]
    flags = [left for left in claims if left in HIDDEN]
    assert not silent or flags or fault.id in BY_OTHER_ROWS, silent
    assert views_of(claims) or fault.id in BY_OTHER_ROWS


def _outside(left: str, numbers: dict[str, list[float]]) -> bool:
    broken = [value for value in numbers.get("broken", []) if value is not None]
    return bool(broken) and all(ROWS[left].outside({left: float(value)}) for value in broken)


BY_OTHER_ROWS = {
    "attention/scale_missing": "influence: the factor times sqrt(d)",
    "freezing/frozen_layers": "weights: elements not trainable that never moved, or like a random start",
    "optimizer/lr_too_low": "updates: median change of a step",
    "optimizer/warmup_missing": "loss_curve: loss at the end over the first loss",
    "precision/integer_features": "batch: zeros, distinct values, whole numbers",
}
"""Faults whose claims lie within the usual ranges, with the row in which they show."""
