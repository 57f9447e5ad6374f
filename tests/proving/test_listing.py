"""The list of faults is cached: patterns are matched once, and again when a file that decides the answer has changed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bugzoo import faults, fingerprint, scenario
from bugzoo.proving import listing

FAULT = faults.load("loop/stale_gradients")
Listed = Callable[[], tuple[list[dict[str, Any]], int]]


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Listed]:
    """List a catalogue of one fault as a new process does. Returns its rows, and how often `fits` was asked."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "fault.py").write_text("FAULT = 1\n")
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path / "package")
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(faults, "catalogue", lambda: {FAULT.id: FAULT})
    fits, calls = scenario.fits, []
    monkeypatch.setattr(scenario, "fits", lambda fault: (calls.append(fault.id), fits(fault))[1])

    def rows() -> tuple[list[dict[str, Any]], int]:
        calls.clear()
        listing._faults.cache_clear()
        return listing.rows("faults"), len(calls)

    yield rows
    listing._faults.cache_clear()


def test_the_second_process_matches_no_pattern(listed: Listed) -> None:
    first, calls = listed()
    assert calls and "mlp" in first[0]["programs"] and first[0]["plainest"] in first[0]["programs"]
    assert listed() == (first, 0)
    assert listing.detail("stale_gradients")["why"] == FAULT.why


def test_a_changed_file_gives_a_fresh_answer(listed: Listed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    listed()
    changed = replace(FAULT, title="Another title", not_on={"mlp": "why"})
    monkeypatch.setattr(faults, "catalogue", lambda: {FAULT.id: changed})
    (tmp_path / "package" / "fault.py").write_text("FAULT = 2\n")
    [row], calls = listed()
    assert calls and row["title"] == "Another title" and "mlp" not in row["programs"]


def test_a_changed_pack_gives_a_fresh_answer(listed: Listed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pack = SimpleNamespace(name="sample", load=lambda: SimpleNamespace(__path__=[str(tmp_path / "pack")]))
    monkeypatch.setattr(listing, "entry_points", lambda group: [pack])
    fresh = []
    for text in ("FAULT = 1\n", "FAULT = 1\n", "FAULT = 2\n"):
        (tmp_path / "pack" / "loop").mkdir(parents=True, exist_ok=True)
        (tmp_path / "pack" / "loop" / "fault.py").write_text(text)
        fresh.append(listed()[1] > 0)
    assert fresh == [True, False, True]
    pack.name = "another"
    assert listed()[1], "the ids have the name of the pack in them"


def test_a_cache_that_cannot_be_written_costs_only_time(
    listed: Listed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, _ = listed()
    (tmp_path / "file").touch()
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "file" / "cache"))
    assert [listed()[0], listed()[0]] == [first, first] and listed()[1]


def test_a_file_that_is_cut_off_is_written_anew(listed: Listed, tmp_path: Path) -> None:
    first, _ = listed()
    [file] = (tmp_path / "cache").iterdir()
    file.write_text(file.read_text()[:100])
    assert listed()[0] == first and listed() == (first, 0)
