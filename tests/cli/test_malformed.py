"""What somebody can type wrong: one message that says what, with which value, and what to type next; code 2; no trace.

`malformed.txt` holds what can be tried in this process, one line each. What is about the process itself (closed streams,
pipes, signals, full disks) is below it, each in a process of its own.
"""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

WORDS = {"<huge>": "1" + "0" * 24, "<long>": "x" * 5000, "<nul>": "a\0b.json", "<latin>": "caf\udce9"}

KEYS = {
    "broken": "{", "listed": "[]", "old": '{"format": "bugzoo-assignment/0"}',
    "torn": '{"format": "bugzoo-assignment/1", "assignment": "a", "title": "A", "story": ""}',
}  # fmt: skip
"""Folder -> what stands where an assignment has its key."""


def table() -> list[tuple[list[str], str]]:
    """(words, a piece of the message) of each line."""
    rows = []
    for line in (Path(__file__).parent / "malformed.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            typed, _, message = line.rpartition("|")
            words = shlex.split(typed)
            for short, word in WORDS.items():
                words = [part.replace(short, word) for part in words]
            rows.append((words, message.strip()))
    return rows


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of everything that can be named by mistake."""
    here = tmp_path_factory.mktemp("place")
    for folder in ("folder.json", "folder.png", "full/anna", "empty"):
        (here / folder).mkdir(parents=True)
    (here / "train.py").write_text("loss.backward()\noptimizer.step()\noptimizer.zero_grad()\n")
    (here / "wrong.py").write_text("def (:\n")
    (here / "empty.py").write_text("")
    (here / "zero.py").write_bytes(b"a = 1\0\n")
    (here / "binary.py").write_bytes(b"caf\xe9\n")
    (here / "lesson.ipynb").write_text("{}")
    (here / "file.txt").write_text("text\n")
    (here / "word.txt").write_text("a secret that is long enough\n")
    (here / "class.csv").write_text("student_id\nanna\n")
    (here / "full/anna/notes.txt").write_text("")
    for name, key in KEYS.items():
        (here / name / "instructor").mkdir(parents=True)
        (here / name / "instructor/key.json").write_text(key)
    return here


def seen(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_size for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("words", "said"), table(), ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else ""
)
def test_a_mistake_is_one_message_and_leaves_nothing(bugzoo: Callable, place: Path, monkeypatch, words, said):
    monkeypatch.chdir(place)
    monkeypatch.setenv("BUGZOO_DATA", str(place.parent / "data"))
    before = seen(place)
    called = bugzoo(*words)
    assert called.code == 2, called.out + called.err
    assert called.out == ""
    assert called.err.startswith("bugzoo: ") and called.err.count("\n") <= 12 and len(called.err) < 1500, called.err
    assert said in called.err, called.err
    assert seen(place) == before, "something was left behind"


def test_the_table_is_large():
    assert len(table()) >= 240
