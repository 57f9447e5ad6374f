"""Open interviews: a file that survives kill -9, and who counts as having looked at the case."""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bugzoo import sittings
from bugzoo.errors import UserError

SCRIPT = "\n".join(f"line{number} = {number}" for number in range(30))


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def begun(number: int, folder: Path, **more) -> sittings.Sitting:
    about = {"ticket": f"Z-{number}", "seed": 3, "minutes": 5, "started": time.time(), "folder": str(folder)}
    return sittings.begin(number, **about | {"script": SCRIPT} | more)


def test_nothing_is_open_at_first(data) -> None:
    sittings.count("show")
    assert sittings.open_ones() == [] and not data.exists()


def test_a_line_that_was_cut_off_spoils_none_but_itself(tmp_path) -> None:
    one = begun(7, tmp_path)
    one.note(event="evidence", seconds=3.0)
    with open(one.path, "ab") as file:
        file.write(b'\n{"event": "guess", "sec')
    one.note(event="list", seconds=9.0)
    assert [line.get("event") for line in one.lines()] == [None, "evidence", "list"]
    assert one.about["ticket"] == "Z-7" and one.number == 7
    one.end()
    one.end()
    assert sittings.open_ones() == []


def test_one_that_nobody_came_back_to_is_over_after_an_hour(tmp_path) -> None:
    late = time.time() - 300 - sittings.LATE
    begun(1, tmp_path, started=late - 5)
    begun(10, tmp_path, started=late + 60)
    begun(9, tmp_path)
    (tmp_path / "data" / "open" / "11.jsonl").write_text('{"ticket":')
    (tmp_path / "data" / "open" / "notes.txt").write_text("")
    assert [one.number for one in sittings.open_ones()] == [9, 10]
    begun(12, tmp_path, started=time.time() + 10**7)
    assert sittings.open_ones()[-1].number == 12, "a clock that was set back"


def test_the_case_is_known_by_its_folder_and_by_its_lines(tmp_path, capsys) -> None:
    case = tmp_path / "case"
    case.mkdir()
    one = begun(1, case)
    mine, copy, other = case / "mine.py", tmp_path / "copy.py", tmp_path / "other.py"
    mine.write_text("x = 1\n")
    copy.write_text(SCRIPT.replace("line3 = 3", "line3 = 4").replace("line7 = 7", ""))
    other.write_text("import torch\nx = 1\n")
    for file, counts in ((mine, True), (copy, True), (other, False), (tmp_path / "gone.py", False)):
        before = len(one.lines())
        sittings.count("checkup", file)
        told = capsys.readouterr()
        assert (len(one.lines()) > before) is counts is ("costs 24 points" in told.err) and not told.out, file
    sittings.count("show")
    assert [line["kind"] for line in one.lines() if line.get("event") == "outside"] == ["checkup", "checkup", "show"]


def test_nobody_plays_a_case_twice_at_once_and_kill_9_frees_it(tmp_path) -> None:
    one = begun(1, tmp_path)
    code = """if True:
        import time
        from bugzoo.sittings import open_ones
        with open_ones()[0].held():
            print("held", flush=True)
            time.sleep(60)
    """
    with contextlib.ExitStack() as ended:
        other = ended.enter_context(subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE))
        assert other.stdout and other.stdout.readline() == b"held\n"
        with pytest.raises(UserError, match="Case Z-1 is being played in another terminal"), one.held():
            pass
        other.kill()
    with one.held():
        pass


def test_a_folder_that_cannot_be_made_is_a_message(data) -> None:
    data.write_text("a file")
    with pytest.raises(UserError, match="could not be made"):
        begun(1, data)
