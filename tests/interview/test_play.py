"""Whole sessions through the real command line: from a pipe, to the end, broken off, out of time."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bugzoo import faults, record
from bugzoo.interview import rubric
from bugzoo.interview.deck import draw
from bugzoo.interview.requests import find
from bugzoo.scenario import fits
from tests.cli.conftest import bugzoo  # noqa: F401
from tests.interview.seeds import first_seed

SEED = first_seed("loop/stale_gradients", "mlp")


def start(folder: Path, *arguments: str, **extra) -> subprocess.Popen[str]:
    environment = os.environ | {"BUGZOO_DATA": str(folder / "data"), "OMP_NUM_THREADS": "1"}
    environment.pop("EDITOR", None)
    command = [sys.executable, "-m", "bugzoo", "interview", "--seed", str(SEED), "--folder", "case", *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, env=environment, text=True, **pipes, **extra)


def rows(folder: Path) -> list[dict]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUGZOO_DATA", str(folder / "data"))
        return record.interviews()


def cause_number(session_case) -> int:
    fitting = [f for f in faults.catalogue().values() if not f.trap and session_case.scenario.program in fits(f)]
    return [f.id for f in sorted(fitting, key=lambda f: f.title)].index(session_case.fault.id) + 1


@pytest.mark.slow
def test_a_whole_session_from_a_file(bugzoo, tmp_path, monkeypatch):  # noqa: F811
    """In this process, which has a warm one; the others of this file start one of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EDITOR", raising=False)

    def talk(answers: str) -> tuple[int, str, str]:
        (tmp_path / "answers.txt").write_text(answers)
        with open(tmp_path / "answers.txt") as file:
            monkeypatch.setattr(sys, "stdin", file)
            reply = bugzoo("interview", "--seed", str(SEED), "--folder", "case", "--minutes", "5", "--json")
        return reply.code, reply.out, reply.err

    whole_session(tmp_path, talk)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_whole_session_from_a_pipe(tmp_path):
    whole_session(tmp_path, partial(by_pipe, tmp_path))


def by_pipe(folder: Path, answers: str) -> tuple[int, str, str]:
    talk = start(folder, "--minutes", "5", "--json")
    out, err = talk.communicate(answers, timeout=200)
    return talk.returncode, out, err


def whole_session(tmp_path: Path, talk: Callable[[str], tuple[int, str, str]]) -> None:
    """`talk` plays the answers, and returns exit code, stdout and stderr."""
    case = draw(SEED)
    (tmp_path / "repaired.py").write_text(case.scenario.base)
    line = rubric.lines(case)[0][0]
    answers = ["gradients", "nonsense", "999", "fresh_gradient", "look batch fifty", "look gradints", "more gradients"]
    answers += ["diagnose", str(cause_number(case)), str(line), str(find("gradients").number), "1"]
    answers += ["submit nowhere.py", "submit repaired.py", "done"]
    code, out, err = talk("\n".join(answers) + "\n")
    assert code == 0, err
    result = json.loads(out)
    got = {row["name"]: row["points"] for row in result["rows"]}
    assert result["status"] == "finished"
    assert got["cause"] == rubric.CAUSE and got["place"] == rubric.PLACE
    assert got["evidence before guess"] == rubric.EVIDENCE
    assert got["repair"] == rubric.REPAIR, result["rows"]
    assert "nowhere.py cannot be read" in err and "no evidence 999" in err and "'nonsense' is not a command" in err
    assert "share of steps that begin with a gradient other than 0: 1 (usual: 0 to 0.1)" in err
    assert "'fresh_gradient' stands in the view 'gradients'" in err and "'fifty' is not a step" in err
    assert "Did you mean gradients" in err and "gradients has no more lines" in err, "a pipe gets all at once"
    assert "Enter: page" not in err and err.count(f"Ticket {case.ticket}: ") == 2, (
        "above the list, and above the causes"
    )
    assert "gradients, opened" in err and "What `bugzoo checkup` would have said" in err
    before = err[: err.index("The case: ")]
    for secret in (case.fault.id, "stale_gradients"):
        assert secret not in before, "nothing names the fault before the debrief"
    assert case.fault.title in before, "but it is among the causes to choose from"
    assert "zero_grad" in result["debrief"]["diff"]
    (row,) = rows(tmp_path)
    assert row["status"] == "finished" and row["points"] == result["points"] and row["ticket"] == case.ticket
    assert sorted(path.name for path in (tmp_path / "case").iterdir()) == ["TICKET.md", "train.py"]


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_the_broken_file_handed_in_again_is_no_repair(tmp_path):
    talk = start(tmp_path, "--json")
    out, err = talk.communicate("submit\ndone\n", timeout=200)
    got = {row["name"]: row["points"] for row in json.loads(out)["rows"]}
    assert got["repair"] < rubric.REPAIR, err
    assert "Not healthy yet" in err
    assert "gradient other than 0" not in err[err.index("Not healthy yet") : err.index("cause  ")], (
        "evidence has its price"
    )


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_input_that_ends_is_abandoned(tmp_path):
    talk = start(tmp_path)
    out, err = talk.communicate("healthy_twin\n", timeout=200)
    assert talk.returncode == 0, err
    assert "No more input" in out and "Traceback" not in err
    (row,) = rows(tmp_path)
    assert row["status"] == "abandoned" and row["result"]["evidence"]["seen"] == ["healthy_twin"]
    assert (tmp_path / "case" / "train.py").read_text() == draw(SEED).scenario.source


@pytest.mark.serial
@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("wait_for", ["Your time starts after that", "left, "])
def test_ctrl_c_leaves_everything_whole(tmp_path, wait_for):
    talk = start(tmp_path, start_new_session=True)
    for line in talk.stdout:
        if wait_for in line:
            break
    time.sleep(0.3)
    os.kill(talk.pid, signal.SIGINT)
    _, err = talk.communicate(timeout=60)
    assert talk.returncode == 130, err
    assert "Traceback" not in err
    (row,) = rows(tmp_path)
    assert row["status"] == "abandoned"
    assert (tmp_path / "case" / "train.py").exists()


@pytest.mark.serial
@pytest.mark.slow
def test_time_is_over_while_the_candidate_thinks(tmp_path):
    talk = start(tmp_path, "--minutes", "0.02", "--json")
    for line in talk.stderr:
        if "left, " in line:
            break
    begin = time.monotonic()
    rest = talk.stderr.read()
    assert time.monotonic() - begin < 30
    assert "Time is over" in rest
    result = json.loads(talk.stdout.read())
    talk.stdin.close()
    assert talk.wait(20) == 0
    talk.stdout.close()
    talk.stderr.close()
    assert result["status"] == "time over" and result["points"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--minutes", "0"], "above 0"), (["--minutes", "-3"], "above 0"), ([], "case already exists")],
)
def test_mistakes_start_nothing(tmp_path, arguments, said):
    if not arguments:  # the folder that the interview would make is there
        (tmp_path / "case").mkdir()
    talk = start(tmp_path, *arguments)
    _, err = talk.communicate("", timeout=60)
    assert talk.returncode == 2
    assert said in err and "Traceback" not in err
    assert not rows(tmp_path)


@pytest.mark.slow
def test_a_history_that_is_none(bugzoo, tmp_path, monkeypatch):  # noqa: F811
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "record.sqlite").write_text(
        "this is no database, and it is long enough to be noticed as such" * 20
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    reply = bugzoo("interview", "--seed", str(SEED), "--folder", "case")
    assert reply.code == 2 and "record.sqlite cannot be used" in reply.err and "Traceback" not in reply.err
    assert not (tmp_path / "case").exists()
