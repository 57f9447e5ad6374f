"""Whole hands through the real command line: from a pipe, broken off, two at once, and every table as JSON."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bugzoo import record
from bugzoo.practice import answers, deal, standing


def start(folder: Path, *words: str, **extra) -> subprocess.Popen[str]:
    environment = os.environ | {"BUGZOO_DATA": str(folder / "data"), "COLUMNS": "150"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-m", "bugzoo", "practice", *words], env=environment, text=True, **pipes, **extra
    )


def called(folder: Path, *words: str, typed: str = "") -> tuple[int, str, str]:
    one = start(folder, *words)
    out, err = one.communicate(typed, timeout=120)
    return one.returncode, out, err


@pytest.mark.slow
def test_a_hand_from_a_pipe_is_answered_scored_and_kept(tmp_path) -> None:
    hand = deal(standing(["loss"]), 3, 3)
    first = hand[0].card
    lines = [str(first.wrong[0]), "nonsense", "101", "90 %", "99999", "0", "", "q"]
    code, out, err = called(
        tmp_path, "--seed", "3", "--count", "3", "--family", "loss", "--json", typed="\n".join(lines)
    )
    assert code == 0, err
    result = json.loads(out)
    one, two = result["answered"]
    assert (one["right"], one["sure"], one["brier"]) == (True, 90, pytest.approx(0.01)) and one["fault"] == first.fault
    assert two["sure"] == 50 and two["brier"] == 0.25 and two["right"] is hand[1].card.healthy
    assert result["brier"] == pytest.approx(0.13) and result["cards"] == 3 and result["seed"] == 3
    for wrong in (
        "'nonsense' is not allowed; type a whole number from 0 to 100",
        "'99999' is not allowed; type 0 for none",
    ):
        assert wrong in err
    assert first.fault not in err[: err.index("Right: ")], "nothing names a fault before its answer"
    kept = [(answer.fault, answer.right, answer.sure) for answer in answers()]
    assert kept == [(first.fault, True, 90.0), (hand[1].card.fault, two["right"], 50.0)]


@pytest.fixture(autouse=True)
def _same_record(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))


@pytest.mark.slow
def test_ctrl_c_in_the_middle_leaves_the_record_whole(tmp_path) -> None:
    one = start(tmp_path, "--seed", "3", "--count", "5", start_new_session=True)
    assert one.stdin and one.stdout
    one.stdin.write("0\n50\n")
    one.stdin.flush()
    for text in one.stdout:
        if text.startswith("Card 2 of 5"):
            break
    time.sleep(0.3)
    os.kill(one.pid, signal.SIGINT)
    _, err = one.communicate(timeout=60)
    assert "Traceback" not in err and one.returncode in (0, 130) and len(answers()) == 1
    with sqlite3.connect(record.path()) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.slow
def test_two_hands_at_once_lose_nothing(tmp_path) -> None:
    both = [start(tmp_path, "--seed", str(seed), "--count", "6") for seed in (1, 2)]
    for one in both:
        assert one.stdin
        one.stdin.write("0\n70\n" * 6)
        one.stdin.flush()
    ended = [one.communicate(timeout=120) for one in both]
    assert [one.returncode for one in both] == [0, 0], ended
    assert len(answers()) == 12 and [one["number"] for one in record.events()] == list(range(1, 13))
