"""`bugzoo claims`: the table, one measured, what is kept when it is stopped, and what was mistyped."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugzoo import claims

Bugzoo = Callable[..., Any]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Names of claims that were measured, with the committed numbers and no run; the ledger is another one."""
    monkeypatch.delenv("BUGZOO_PROOFS")
    entries = {name: claims.read(name) for name in claims.names()}
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path))
    asked: list[str] = []

    def measure(name: str, fresh: bool = False, progress: Any = None) -> dict[str, Any]:
        if name == "clip_rate" and "stop" in asked:
            raise KeyboardInterrupt
        asked.append(name)
        return entries[name]

    monkeypatch.setattr(claims, "measure", measure)
    return asked


def test_the_table_and_the_list(bugzoo: Bugzoo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")
    called = bugzoo("claims")
    assert called.code == 0 and f"{len(claims.names())} claims on trial" in called.out and "does not hold" in called.out
    rows = json.loads(bugzoo("claims", "--json").out)
    assert {row["id"] for row in rows} == set(claims.names())
    assert all(row["verdict"] in claims.VERDICTS and row["url"] and row["numbers"] and row["limits"] for row in rows)
    called = bugzoo("claims", "list")
    assert "frozen_features" in called.out and "does not hold" not in called.out, "it tells no verdict"


def test_one_is_measured_and_written(bugzoo: Bugzoo, measured: list[str], tmp_path: Path) -> None:
    called = bugzoo("claims", "run", "frozen_features")
    assert called.code == 0 and measured == ["frozen_features"] and "1 claims on trial" in called.out
    assert [file.name for file in (tmp_path / "claims").iterdir()] == ["frozen_features.json"]
    assert bugzoo("claims", "run").code == 0
    assert sorted(measured) == claims.names(), "only what was not measured"
    measured.clear()
    bugzoo("claims", "run")
    assert measured == []
    assert len(json.loads(bugzoo("claims", "run", "--fresh", "--json").out)) == len(measured) == len(claims.names())


def test_ctrl_c_keeps_what_was_measured(bugzoo: Bugzoo, measured: list[str], tmp_path: Path) -> None:
    measured.append("stop")
    called = bugzoo("claims", "run")
    before = [name for name in claims.names() if name < "clip_rate"]
    assert before and called.code == 130 and f"{len(before)} claims on trial" in called.out
    assert sorted(file.stem for file in (tmp_path / "claims").iterdir()) == before
    assert "not measured" in bugzoo("claims").out


def test_mistakes(bugzoo: Bugzoo) -> None:
    called = bugzoo("claims", "run", "frozen_feature")
    assert called.code == 2 and "There is no claim named 'frozen_feature'. Did you mean frozen_features" in called.err
