"""The gate on small folders of tests: green, red, flaky, empty, hanging, broken. What its last lines say is what counts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate import flaky, running
from tests.gate.outcomes import Test, read

ROOT = Path(__file__).parent.parent
INI = "[pytest]\nmarkers =\n    slow\n    serial\n    browser\n    sampled(n)\naddopts = -p no:cacheprovider\n"
MIXED = """
import os, time
from pathlib import Path
import pytest

def test_fine(): pass

@pytest.mark.skip(reason="not here")
def test_left_out(): pass

def test_wrong():
    assert 1 + 1 == 3, "arithmetic"

@pytest.mark.serial
def test_now_and_then():
    there = Path("been-here").exists()
    Path("been-here").touch()
    assert there, "the first time"

@pytest.mark.browser
def test_that_takes_its_process_along():
    os._exit(7)
"""

pytestmark = pytest.mark.slow


def gate(folder: Path, text: str, *arguments: str) -> tuple[int, list[str]]:
    (folder / "test_small.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text(INI, encoding="utf-8")
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, "-m", "tests.gate", *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return process.returncode, (
        process.stdout + process.stderr
    ).strip().splitlines() if process.stderr else process.stdout.splitlines()


def test_what_failed_is_told_in_the_last_lines_and_what_failed_once_is_flaky(tmp_path: Path) -> None:
    code, lines = gate(tmp_path, MIXED)
    last = "\n".join(lines[-20:])
    assert code == 1 and lines[-1] == "2 passed, 2 failed, 1 skipped", last
    assert "FAILED test_small.py::test_wrong\n  AssertionError: arithmetic" in last
    assert "-m pytest test_small.py::test_wrong" in last
    assert "FAILED test_small.py::test_that_takes_its_process_along" in last
    assert "FLAKY test_small.py::test_now_and_then (seed " in last
    [entry] = json.loads((tmp_path / "artefacts" / "flaky.json").read_text())
    assert entry["test"] == "test_small.py::test_now_and_then" and entry["why"].startswith(
        "AssertionError: the first time"
    )
    summary = json.loads((tmp_path / "artefacts" / "gate.json").read_text())
    assert len(summary["tests"]) == 5 and [entry["test"] for entry in summary["failed"]] == [
        "test_small.py::test_wrong",
        "test_small.py::test_that_takes_its_process_along",
    ]
    assert (tmp_path / "artefacts" / "junit-beside.xml").is_file()


def test_a_flaky_test_alone_leaves_it_green(tmp_path: Path) -> None:
    text = MIXED.replace("@pytest.mark.serial", "").replace("1 + 1 == 3", "1 + 1 == 2").replace("os._exit(7)", "pass")
    code, lines = gate(tmp_path, text, "--unit")
    assert code == 0 and lines[-1] == "3 passed, 0 failed, 1 skipped", lines[-20:]


def test_a_file_that_cannot_be_collected_is_red(tmp_path: Path) -> None:
    code, lines = gate(tmp_path, "import no_such_module\n", "--unit")
    assert code == 1 and lines[-1] == "0 passed, 1 failed, 0 skipped", lines[-20:]
    assert any("could not be collected: ModuleNotFoundError" in line for line in lines[-20:])


def test_no_test_is_no_green(tmp_path: Path) -> None:
    code, lines = gate(tmp_path, "", "--unit")
    assert code == 1 and lines[-1] == "0 passed, 1 failed, 0 skipped"
    assert "ERROR no test ran" in lines


def test_a_test_that_waits_for_ever_is_ended(tmp_path: Path) -> None:
    pytest.importorskip("pytest_timeout", reason="pytest-timeout is not installed")
    text = "import threading\ndef test_waits(): threading.Event().wait()\ndef test_fine(): pass\n"
    code, lines = gate(tmp_path, text, "--unit", "--timeout", "2")
    assert code == 1 and lines[-1] == "1 passed, 1 failed, 0 skipped", lines[-20:]
    assert any("FAILED test_small.py::test_waits" in line for line in lines[-20:])


def test_the_files_of_a_phase_hold_all_of_its_tests() -> None:
    """They are found by the mark in their text, so that no mark may come from elsewhere."""
    alone, browser = (running.holding(marker, []) for marker in ("serial", "browser and not serial"))
    assert "tests/cli/test_checkup.py" in alone and "tests/browser/test_live_plot.py" in {*alone} & {*browser}
    assert "tests/test_plain.py" not in alone and running.holding("not (serial or browser)", []) == []
    assert running.holding("serial", ["tests/plots"]) == []
    file = Path(__file__)
    assert [str(path) for path in file.parent.rglob("*.py") if path != file and "add_marker(" in path.read_text()] == []


def test_lines_of_a_killed_process_are_read(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text('{"kind": "start", "id": "a.py::one"}\n{"kind": "te', encoding="utf-8")
    phase = read("beside", file)
    assert [test.id for test in phase.failed()] == ["a.py::one"] and "never ended" in phase.failed()[0].why


def test_the_line_that_says_most() -> None:
    text = "def test():\n>   assert a\nE   AssertionError: what\nE   more\n\nfile.py:3: AssertionError"
    assert Test("x", text=text).why == "AssertionError: what"


ROW = "| tests/x.py::test | 2026-11-25 | 1 | 2.0 | {} |\n"


def test_twice_on_the_list_is_too_often_until_it_is_mended() -> None:
    assert flaky.twice(ROW.format("")) == []
    assert flaky.twice(ROW.format("") * 2) == ["tests/x.py::test"]
    assert flaky.twice(ROW.format("") * 2 + ROW.format("mended: waits for the event")) == []
    assert flaky.row(flaky.entry("tests/x.py::test", "why", "1", 2.0)).count("|") == 6


def test_no_test_of_ours_is_flaky_twice() -> None:
    assert flaky.twice(flaky.LIST.read_text(encoding="utf-8")) == []


def test_modules_are_compiled_once_and_what_steers_pytest_stays_outside():
    environment = {"PYTEST_ADDOPTS": "-x", "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/bin"}
    assert running.outer(environment) == {"PATH": "/bin"}
