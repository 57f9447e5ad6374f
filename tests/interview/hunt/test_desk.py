"""The candidate's folder: every save kept, a clock that nobody can turn back, a public bar that nothing can hang."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.interview.hunt import desk, sitting


@pytest.fixture
def folder(quick, tmp_path: Path) -> Path:
    return sitting.sit(quick, tmp_path / "ada", "Ada")


def saves(folder: Path) -> list[str]:
    return desk.git(folder, "log", "--format=%s").stdout.splitlines()


def kept(folder: Path, stop: threading.Event) -> threading.Thread:
    thread = threading.Thread(target=desk.keep, args=(folder, lambda text: None, stop))
    thread.start()
    return thread


def until(true, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def test_a_save_is_kept_and_the_last_one_counts(folder: Path) -> None:
    stop = threading.Event()
    thread = kept(folder, stop)
    (folder / "train.py").write_text("metrics = {'accuracy': 1.0}\n")
    until(lambda: len(saves(folder)) == 2)
    (folder / "FINDINGS.md").write_text("The rate is wrong.\n")
    until(lambda: len(saves(folder)) == 3)
    stop.set()
    thread.join(10)
    assert desk.text_at_end(folder) == ("metrics = {'accuracy': 1.0}\n", "")
    assert [one["event"] for one in desk.events(folder)] == ["begin", "save", "save", "save"]


def test_twenty_saves_a_second_end_in_the_last_one(folder: Path) -> None:
    stop = threading.Event()
    thread = kept(folder, stop)
    for number in range(40):
        (folder / "train.py").write_text(f"metrics = {{'accuracy': {number}}}\n")
        time.sleep(0.05)
    stop.set()
    thread.join(10)
    assert desk.text_at_end(folder)[0] == "metrics = {'accuracy': 39}\n"
    assert 2 <= len(saves(folder)) < 42


def test_a_script_that_deletes_itself_is_still_there(folder: Path) -> None:
    (folder / "train.py").unlink()
    desk.save(folder)
    text, why = desk.text_at_end(folder)
    assert text is not None and "accuracy" in text and why == "train.py was gone at the end"


def test_what_is_too_large_is_not_kept(folder: Path) -> None:
    said, stop = [], threading.Event()
    (folder / "dump.txt").write_bytes(b"x" * (desk.MOST + 1))
    stop.set()
    assert desk.keep(folder, said.append, stop) == "stopped"
    assert "dump.txt" in said[0] and "dump.txt" not in desk.git(folder, "ls-files").stdout


def test_one_keeper_a_folder(folder: Path) -> None:
    with desk.alone(folder), pytest.raises(desk.Mistake, match="being kept already"):
        desk.keep(folder)


def test_after_a_kill_it_goes_on_where_it_was(folder: Path) -> None:
    command = [sys.executable, str(folder / "hunt.py"), "keep"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder)
    (folder / "train.py").write_text("metrics = {'accuracy': 2.0}\n")
    until(lambda: len(saves(folder)) == 2)
    os.kill(child.pid, signal.SIGKILL)
    child.wait(10)
    (folder / "train.py").write_text("metrics = {'accuracy': 3.0}\n")
    with open(folder / ".hunt" / "events.jsonl", "ab") as file:
        file.write(b'{"event": "sa')  # as a kill in the middle of a line leaves it
    stop = threading.Event()
    stop.set()
    assert desk.keep(folder, print, stop) == "stopped"
    assert desk.text_at_end(folder)[0] == "metrics = {'accuracy': 3.0}\n"


def test_a_clock_that_is_set_back_gives_nobody_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(desk.time, "time", lambda: now + 600)
    desk.note(folder, "check", passed=False, saw="")
    monkeypatch.setattr(desk.time, "time", lambda: now - 86400)
    assert 599 < desk.elapsed(folder) < 620
    assert desk.left(folder) < 60 * 45 - 599


def test_the_time_ends_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = time.time() + 46 * 60
    monkeypatch.setattr(desk.time, "time", lambda: late)
    assert desk.keep(folder) == "time over"
    assert desk.events(folder)[-1]["event"] == "time over"


def test_handed_in_is_handed_in(folder: Path) -> None:
    (folder / "train.py").write_text("metrics = {'accuracy': 4.0}\n")
    desk.done(folder)
    assert desk.keep(folder) == "done"
    desk.done(folder)
    assert [one["event"] for one in desk.events(folder)].count("done") == 1


@pytest.mark.parametrize(
    ("text", "passed", "saw"),
    [
        ("metrics = {'accuracy': 0.99}", True, "accuracy 0.99, asked for: at least 0.85"),
        ("metrics = {'accuracy': 0.1}", False, "accuracy 0.1"),
        ("metrics = {'accuracy': float('nan')}", False, "accuracy nan"),
        ("metrics = {'loss': 0.1}", False, "have no accuracy"),
        ("x = 1", False, "no `metrics` at its end"),
        ("def f(:\n", False, "SyntaxError"),
        ("raise ValueError('rows')", False, "ValueError: rows"),
        ("import os\nos.remove('train.py')\nmetrics = {'accuracy': 0.9}", True, "accuracy 0.9"),
        ("for _ in range(2000):\n    print('x' * 50000)\nmetrics = {'accuracy': 0.9}", True, "accuracy 0.9"),
        ("import sys\nsys.stderr.write('y' * 10**8)\nmetrics = {'accuracy': 0.9}", True, "accuracy 0.9"),
    ],
)
def test_the_public_bar(folder: Path, text: str, passed: bool, saw: str) -> None:
    (folder / "train.py").write_text(text)
    found = desk.check(folder)
    assert found["passed"] is passed and saw in found["saw"]
    assert (folder / "train.py").read_text() == text  # it was a copy that ran


def test_what_runs_for_ever_is_ended(folder: Path) -> None:
    (folder / "train.py").write_text("import time\nwhile True: time.sleep(1)")
    found = desk.check(folder, seconds=2)
    assert not found["passed"] and "did not end within 2 s" in found["saw"]


def test_outputs_that_must_be_identical(folder: Path) -> None:
    state = json.loads((folder / desk.STATE).read_text())
    state["bar"]["identical"] = {"accuracy": 0.95, "loss": 0.25}
    (folder / desk.STATE).write_text(json.dumps(state))
    for loss, good in ((0.25, True), (0.2501, False)):
        (folder / "train.py").write_text(f"metrics = {{'accuracy': 0.95, 'loss': {loss}}}")
        assert desk.check(folder)["passed"] is good


@pytest.mark.parametrize("state", ["", "[]", "{}", "not json"])
def test_a_folder_that_is_none(tmp_path: Path, state: str) -> None:
    if state:
        (tmp_path / desk.STATE).write_text(state)
    with pytest.raises(UserError, match=r"hunt|handed out"), sitting.told():
        desk.state(tmp_path)


def test_it_needs_nothing_but_python_and_git(folder: Path) -> None:
    """The desk travels to machines without bugzoo."""
    (folder / "train.py").write_text("metrics = {'accuracy': 0.99}")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "hunt.py", "check"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "pass: accuracy 0.99, asked for: at least 0.85\n"), done.stderr
    done = subprocess.run(
        [sys.executable, "-I", "-S", "hunt.py", "left"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "minutes left" in done.stdout
