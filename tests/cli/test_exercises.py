"""`bugzoo exercises ...` and `bugzoo check`, as they are typed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bugzoo.proving.check as room
from bugzoo import record
from bugzoo.grading.exercises import exercises
from bugzoo.grading.files import build
from bugzoo.proving.check import CheckReport, Proof

Bugzoo = Callable[..., Any]
NAME = "07_sudden_nan"


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def test_reset_keeps_every_version_and_says_so(bugzoo: Bugzoo, tmp_path: Path) -> None:
    build(tmp_path)
    file = tmp_path / "exercises" / f"{NAME}.ipynb"
    handed_out = file.read_text()
    for number, attempt in enumerate(("my first try", "my second try")):
        file.write_text(attempt)
        called = bugzoo("exercises", "reset", "07", "--folder", str(tmp_path))
        backup = file.with_suffix(f".before{number + 1 if number else ''}.ipynb")
        assert called.code == 0 and f"your version: {backup}" in called.out
        assert file.read_text() == handed_out and backup.read_text() == attempt
    untouched = bugzoo("exercises", "reset", NAME, "--folder", str(tmp_path / "exercises"))
    assert "your version" not in untouched.out and len(list(file.parent.iterdir())) == len(exercises()) + 2


def test_progress_is_kept_and_forgotten_at_a_reset(bugzoo: Bugzoo, tmp_path: Path) -> None:
    build(tmp_path)
    for status, points in (("wrong", 0.0), ("passed", 7.0), ("cannot be graded", 0.0), ("not attempted", 0.0)):
        record.attempt(NAME, "repair", status, points, 7.0)
    rows = {row["id"]: row for row in json.loads(bugzoo("exercises", "progress", "--json").out)}
    assert len(rows) == len(exercises()) and {k: rows[NAME][k] for k in ("attempts", "best", "passed")} == {
        "attempts": 2,
        "best": 7.0,
        "passed": True,
    }
    assert rows["04_flat_loss"]["attempts"] == 0
    assert "passed" in bugzoo("exercises", "progress").out
    bugzoo("exercises", "reset", NAME, "--folder", str(tmp_path))
    assert record.standing() == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("reset", "03_suden_nan"), "Did you mean 07_sudden_nan"),
        (("reset", "07", "--folder", "no/such/place"), "--folder DIR"),
        (("instructor", "file/course"), "is not a folder"),
    ],
)
def test_mistakes(bugzoo: Bugzoo, tmp_path: Path, monkeypatch: Any, words: tuple[str, ...], said: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    called = bugzoo("exercises", *words)
    assert called.code == 2 and said in called.err and "Traceback" not in called.err


@pytest.mark.slow
def test_build_and_its_check(bugzoo: Bugzoo, tmp_path: Path) -> None:
    assert bugzoo("exercises", "build", "--check", "--folder", str(tmp_path)).code == 1
    assert f"{2 * len(exercises())} notebooks written" in bugzoo("exercises", "build", "--folder", str(tmp_path)).out
    assert bugzoo("exercises", "build", "--check", "--folder", str(tmp_path)).code == 0


def test_instructor_leaves_a_configuration_alone(bugzoo: Bugzoo, tmp_path: Path) -> None:
    assert bugzoo("exercises", "instructor", str(tmp_path)).code == 0
    config = tmp_path / "nbgrader_config.py"
    assert "timeout" in config.read_text() and len(list((tmp_path / "source").glob("*/*.ipynb"))) == len(exercises())
    config.write_text("mine")
    bugzoo("exercises", "instructor", str(tmp_path))
    assert config.read_text() == "mine"


def test_check_says_what_is_not_proved(bugzoo: Bugzoo, monkeypatch: Any) -> None:
    calls = []
    for problems, code in (([], 0), (["the solution does not pass"], 1)):
        report = CheckReport([Proof(NAME, False, problems=problems)], 1.0, 3, 3)
        monkeypatch.setattr(room, "check", lambda names, *_, report=report, **__: calls.append(list(names)) or report)
        called = bugzoo("check", NAME)
        assert called.code == code and all(f"{NAME}: {text}" in called.out for text in problems)
        answer = json.loads(bugzoo("check", NAME, "--json").out)
        assert answer["ok"] == (code == 0) and answer["proofs"][0]["problems"] == problems
    assert calls == [[NAME]] * 4


def test_check_counts_halves_and_leaves_out_what_is_not_tried(bugzoo: Bugzoo, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = {"kind": "half", "status": "wrong"}
    halves = [trial | {"name": str(share), "share": share, "problems": [] if share == 0.5 else ["too little"]}
              for share in (0.5, 0.5, 0.4)]  # fmt: skip
    for trials, phrase in ((halves, "2 of 3"), ([], "")):
        report = CheckReport([Proof(NAME, False, trials=trials)], 1.0, 3, 3)
        monkeypatch.setattr(room, "check", lambda *_, report=report, **__: report)
        printed = bugzoo("check", NAME).out
        assert "0 of 0" not in printed and ("half earns half" in printed) == bool(phrase) and phrase in printed


def test_check_of_nothing_known(bugzoo: Bugzoo) -> None:
    called = bugzoo("check", "03_suden_nan")
    assert called.code == 2 and "07_sudden_nan" in called.err


@pytest.mark.sampled(0)
@pytest.mark.serial
@pytest.mark.slow
def test_ctrl_c_ends_a_check_and_leaves_nothing(tmp_path: Path) -> None:
    places = {name: str(tmp_path / name.lower()) for name in ("TMPDIR", "BUGZOO_CACHE")}
    Path(places["TMPDIR"]).mkdir()
    command = [sys.executable, "-m", "bugzoo", "check", "17"]
    with subprocess.Popen(command, env=os.environ | places, stderr=subprocess.PIPE, text=True) as checking:
        end = time.monotonic() + 120
        while not list(Path(places["TMPDIR"]).glob("bugzoo-*")) and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(3)
        checking.send_signal(signal.SIGINT)
        errors = checking.communicate(timeout=120)[1]
    assert checking.returncode == 130, errors
    assert "Traceback" not in errors
    left = {path.name for path in Path(places["TMPDIR"]).iterdir() if not path.name.startswith("torchinductor_")}
    assert left == set()  # torch's own cache folder is torch's
