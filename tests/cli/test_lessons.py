"""`bugzoo lessons`: listed, built, and what is said where one does not hold."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugzoo.proving import browser, lesson_proof
from bugzoo.proving.lesson_proof import Ran
from tests.browser import test_through, walk

Bugzoo = Callable[..., Any]


def test_list_and_build(bugzoo: Bugzoo, tmp_path: Path) -> None:
    called = bugzoo("lessons", "list")
    assert called.code == 0 and "03_hunting_nan" in called.out and "03 · Hunting NaN" in called.out
    assert "notebooks written" in bugzoo("lessons", "build", "--folder", str(tmp_path)).out
    assert bugzoo("lessons", "build", "--check", "--folder", str(tmp_path)).code == 0
    (tmp_path / "notebooks" / "03_hunting_nan.ipynb").unlink()
    called = bugzoo("lessons", "build", "--check", "--folder", str(tmp_path))
    assert (
        called.code == 1 and "notebooks/03_hunting_nan.ipynb is missing; `bugzoo lessons build` makes it" in called.out
    )


def test_check_runs_what_changed_or_is_named(bugzoo: Bugzoo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run: list[str] = []
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path))
    monkeypatch.setattr(
        lesson_proof,
        "run",
        lambda lesson, threads: (
            run.append(lesson.number),
            Ran([], {"loss": 1.5 + threads}, {"live": 4.66, "numbers": 1.0}, {}),
        )[1],
    )
    assert bugzoo("lessons", "check", "3").code == 0 and run == ["03", "03"], "with one thread and with two"
    entry = json.loads((tmp_path / "lessons" / "03_hunting_nan.json").read_text())
    assert entry["measured"] == {"loss": 2.5} and entry["two_threads"] == {"loss": 3.5}
    printed = bugzoo("lessons", "check").out
    assert "longest cell live 4.7 s" in printed
    assert "03" not in run[2:] and "from the cache" in printed
    assert bugzoo("lessons", "check", "03").code == 0 and run[-1] == "03"
    assert bugzoo("lessons", "check", "--fresh").code == 0 and run.count("03") == 6


def test_stale_ones_run_again_the_oldest_first(bugzoo: Bugzoo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Proved with earlier code: not red, counted, and run by --stale until its minutes are over."""
    run: list[str] = []
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path))
    monkeypatch.setattr(
        lesson_proof, "run", lambda lesson, threads: (run.append(lesson.number), Ran([], {}, {}, {}))[1]
    )
    assert bugzoo("lessons", "check", "02", "03", "06").code == 0
    assert "earlier code" not in bugzoo("lessons", "check", "02").out
    for name, date in (("02_overfit_one_batch", "2026-11-20"), ("06_losses_and_softmax", "2026-11-10")):
        file = tmp_path / "lessons" / f"{name}.json"
        entry = json.loads(file.read_text())
        entry["code"][3] = entry["code"][3].split()[0] + " 00000000"
        file.write_text(json.dumps(entry | {"date": date}))
    run.clear()
    called = bugzoo("lessons", "check", "--stale", "--minutes", "0")
    assert called.code == 0 and run == [] and "2 proved with earlier code (06, 02)" in called.out
    called = bugzoo("lessons", "check", "--stale")
    assert called.code == 0 and run == ["06", "06", "02", "02"]
    assert f"06_losses_and_softmax: {entry['code'][3].split()[0]} changed since 2026-11-10" in called.out
    assert "earlier code" not in called.out and bugzoo("lessons", "check", "--stale").out == ""


def test_one_that_does_not_hold(bugzoo: Bugzoo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path))
    monkeypatch.setattr(
        lesson_proof,
        "run",
        lambda lesson, threads: Ran(["03_hunting_nan.py, line 92: the text says '1.38'"], {}, {}, {}),
    )
    called = bugzoo("lessons", "check", "03")
    assert called.code == 1 and "the text says '1.38' (with 1 thread)" in called.out and "NOT PROVED" in called.out
    assert not list(tmp_path.iterdir())


def test_going_through_by_clicks_asks_for_both_ways_of_each(bugzoo: Bugzoo, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    codes = iter([0, 1])
    monkeypatch.setattr(browser.subprocess, "call", lambda command, **_: (called.append(command), next(codes))[1])
    monkeypatch.setattr(lesson_proof, "prove", lambda lesson: [])
    assert bugzoo("lessons", "check", "02", "00", "--browser").code == 0
    cases = [f"{browser.TEST}::{test_through.test_a_lesson.__name__}[02-{way}]" for way in walk.WAYS]
    assert called[0][-2:] == cases and "02" in test_through.LESSONS
    assert bugzoo("lessons", "check", "02", "--browser").code == 1, "a walk that fails"
    assert bugzoo("lessons", "check", "00", "--browser").code == 0 and len(called) == 2, "nothing to go through"


def test_on_a_device_nothing_is_written_down(bugzoo: Bugzoo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[tuple[str, str]] = []
    problems: list[str] = []
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path))
    monkeypatch.setattr(
        lesson_proof,
        "run",
        lambda lesson, device: (calls.append((lesson.number, device)), Ran(problems, {"loss": 1.5}, {}, {}))[1],
    )
    called = bugzoo("lessons", "check", "03", "--device", "cpu")
    assert called.code == 0 and calls == [("03", "cpu")] and "03_hunting_nan: holds on cpu, " in called.out
    problems.append("03_hunting_nan.py, line 92: the text says '1.38', but loss_good is 1.41")
    called = bugzoo("lessons", "check", "03", "--device", "cpu")
    assert called.code == 0 and f"digits: {problems[0]}" in called.out and "NOT ALL HOLDS (1 digits)" in called.out
    problems.append("03_hunting_nan.py, line 93: the text says 'one line', but named is False")
    called = bugzoo("lessons", "check", "03", "--device", "cpu")
    assert (
        called.code == 1 and f"words: {problems[1]}" in called.out and "NOT ALL HOLDS (1 words, 1 digits)" in called.out
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "99"), "There is no lesson named '99'."),
        (("check", "03_huntng_nan"), "Did you mean 03_hunting_nan?"),
        (("build", "--folder", "no/such/place"), "There is no folder no/such/place"),
        (("check", "03", "--save"), "Type `bugzoo lessons check --device cuda --save`"),
        (("check", "03", "--device", "gpu"), '--device \'gpu\' is not allowed. Use "auto", "cpu" or "cuda"'),
    ],
)
def test_mistakes(bugzoo: Bugzoo, words: tuple[str, ...], said: str) -> None:
    called = bugzoo("lessons", *words)
    assert called.code == 2 and said in called.err and "Traceback" not in called.err
