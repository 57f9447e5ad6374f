"""`bugzoo hunt`: what it refuses, and the way of an interviewer and a candidate through its commands."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bugzoo.interview.hunt.recipe import published
from tests.cli.conftest import Called

NAME = next(one.name for one in published() if (one.program, one.minutes, one.level) == ("mlp", 45, 2))


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "bugzoo", "hunt", *words]


def test_list(bugzoo: Callable[..., Called]) -> None:
    done = bugzoo("hunt", "list", "--program", "mlp", "--json")
    rows = json.loads(done.out)
    assert {row["program"] for row in rows} == {"mlp"} and NAME in [row["name"] for row in rows]
    assert "faults" not in rows[0] and not any("/" in str(value) for row in rows for value in row.values())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("make", "-o", "x.case"), "either --program NAME, or --recipe"),
        (("make", "-o", "x.case", "--program", "mlpp"), "Did you mean"),
        (("make", "-o", "x.case", "--program", "mlp", "--faults", "9"), "from 3 to 6 bugs"),
        (("make", "-o", "x.case", "--program", "mlp", "--minutes", "30"), "20, 45, 90"),
        (("make", "-o", "x.case", "--program", "mlp", "--level", "5"), "--level 5 is not allowed"),
        (("make", "-o", "x.case", "--recipe", "mlp-45-9-aaaaa"), "bugzoo hunt list"),
        (("make", "-o", "nowhere/x.case", "--program", "mlp"), "nowhere"),
        (("make", "-o", "", "--program", "mlp"), "no path"),
        (("list", "--program", "mlpp"), "Did you mean"),
        (("sit", "nothing.case", "ada"), "cannot be read"),
        (("score", "nothing.case", "ada"), "cannot be read"),
        (("resume", "ada"), "is no folder of a hunt"),
        (("check", "ada"), "is no folder of a hunt"),
        (("done", "ada"), "is no folder of a hunt"),
        (("packet", "nothing.case", "-o", "p"), "cannot be read"),
        (("report", "nothing.case", "ada", "-o", "x.pdf"), "ends in .html"),
        (("report", "nothing.case", "ada", "-o", "x.html", "--method", "1", "--method", "2"), "once for each"),
    ],
)
def test_bad_words(
    bugzoo: Callable[..., Called], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    done = bugzoo("hunt", *words)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err
    assert not list(place.iterdir())


@pytest.mark.slow
def test_the_whole_way(tmp_path: Path) -> None:
    def call(*words: str, code: int = 0) -> str:
        done = subprocess.run(command(*words), cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout

    assert "45 minutes" in call("make", "--recipe", NAME, "-o", "panel.case")
    assert "written: packet/candidate/train.py" in call("packet", "panel.case", "-o", "packet")
    sitting = subprocess.Popen(
        command("sit", "panel.case", "ada", "--name", "Ada"), cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        end = time.monotonic() + 120
        while not (tmp_path / "ada" / ".hunt" / "events.jsonl").exists():
            assert time.monotonic() < end and sitting.poll() is None
            time.sleep(0.1)
        assert "fail: " in call("check", "ada", code=1)
        solution = (tmp_path / "packet" / "interviewer" / "solution.py").read_text()
        (tmp_path / "ada" / "train.py").write_text(solution)
        assert "pass: accuracy" in call("check", "ada")
        sitting.send_signal(signal.SIGINT)
        sitting.wait(60)
        assert sitting.returncode == 130
        assert "Handed in" in call("done", "ada")
        call("resume", "ada", code=2)
        told = json.loads(call("score", "panel.case", "ada", "--method", "7", "--json"))
        assert (told["points"], told["of"], told["candidate"]) == (77, 100, "Ada")
        call("report", "panel.case", "ada", "-o", "panel.html", "--for-candidate")
        page = (tmp_path / "panel.html").read_text()
        assert "Ada" in page and "60 of 60" in page
    finally:
        sitting.kill()
        sitting.wait()
        assert sitting.stdout
        sitting.stdout.close()


@pytest.mark.slow
def test_make_proves_before_it_writes(tmp_path: Path) -> None:
    words = command(
        "make", "--program", "mlp", "--minutes", "20", "--level", "1", "--seed", "5", "-o", "a.case", "--json"
    )
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["bugs"] == 3 and (tmp_path / "a.case").exists()
    again = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 2 and "exists" in again.stderr
