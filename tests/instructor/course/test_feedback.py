"""A student's page: real hand-ins through the commands, nothing given away, nothing of a submission as markup."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugzoo import faults
from bugzoo.instructor import tasks
from bugzoo.instructor.course import feedback, runs
from bugzoo.instructor.handout import _words
from bugzoo.instructor.records import Record
from tests.instructor.class_of import answer, hand_in
from tests.instructor.course.test_likeness import NAME, PLAIN, SOFT, notebook

EVIL = '        raise ValueError("<script>alert(1)</script> \\x1b[2J")\n'
sandboxed = pytest.mark.usefixtures("sandboxed")


def hand_in_class(folder: Path) -> None:
    """The solution, a wrong repair with a diagnosis, an error that is markup, and no notebook at all."""
    hand_in(folder, "ada", notebook("a", PLAIN), NAME)
    wrong = notebook("b", SOFT + "        loss = 2 * loss\n")
    answer(wrong, 'form.hand_in(cause="<img src=x onerror=alert(1)>", place=3, evidence=["<b>"], test="A", step=1)')
    path = hand_in(folder, "ben", wrong, NAME)
    path.with_name("timestamp.txt").write_text("2026-10-06 12:00:00 UTC\n")
    hand_in(folder, "cem <i>", notebook("c", EVIL), NAME)
    hand_in(folder, "dot", "no notebook", NAME)


def leaks(made: str) -> list[str]:
    """Ids, names and titles of any fault of the catalogue that stand in a page."""
    plain = f" {_words(made)} "
    found = [one for one in faults.catalogue() if one in made or f" {_words(one.rsplit('/', 1)[-1])} " in plain]
    return found + [one for one in faults.catalogue() if f" {_words(faults.load(one).title)} " in plain]


def markup(made: str) -> list[str]:
    """The names of all elements of a page."""
    return sorted(set(re.findall(r"<([a-z]+)", made)))


@sandboxed
def test_the_command(tmp_path: Path, bugzoo: Callable) -> None:
    hand_in_class(tmp_path / "in")
    words = (str(tmp_path / "in"), "--assignment", NAME)
    early = bugzoo("feedback", *words, "-o", str(tmp_path / "pages"))
    assert (early.code == 2 and "holds no result" in early.err) or "is no folder" in early.err
    assert not (tmp_path / "pages").exists()
    assert bugzoo("grade", *words).code == 0
    kept = tmp_path / "in_graded" / NAME
    (kept / "overrides.toml").write_text('["cem <i>"]\npoints = 4\nreason = "<u>oral</u> examination"\n')
    (tmp_path / "policy.toml").write_text("due = 2026-10-05T23:59:00Z\nlate_penalty = 0.5\n")
    more = ("--policy", str(tmp_path / "policy.toml"))
    done = bugzoo("feedback", *words, *more, "-o", str(tmp_path / "pages"), "--json", str(tmp_path / "said.json"))
    assert done.code == 0 and "4 pages are in" in done.out, done.err
    paths = json.loads((tmp_path / "said.json").read_text())["written"]
    pages = dict(zip(("ada", "ben", "cem", "dot"), (Path(path).read_text() for path in paths), strict=True))
    usual = {
        "a",
        "b",
        "body",
        "clippath",
        "defs",
        "figcaption",
        "figure",
        "g",
        "h",
        "head",
        "html",
        "meta",
        "p",
        "path",
    }
    usual |= {"rect", "style", "svg", "table", "td", "text", "th", "title", "tr", "tspan", "use", "clip"}
    for made in pages.values():
        assert leaks(made) == [] and set(markup(made)) <= usual, markup(made)
        assert (
            "http://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", made) and "https://" not in made and "\x1b" not in made
        )
    assert "7 of 10 points" in pages["ada"] and pages["ada"].count("<svg") == 1 and "came to its end" in pages["ada"]
    assert (
        "1 late day begun" in pages["ben"] and "&lt;img src" in pages["ben"] and "Due: 2026-10-05 23:59" in pages["ben"]
    )
    assert (
        "&lt;script&gt;" in pages["cem"] and "&lt;u&gt;oral" in pages["cem"] and "What counts: 4 of 10" in pages["cem"]
    )
    assert "ended with an error" in pages["cem"] and "not valid JSON" in pages["dot"] and "<svg" not in pages["dot"]

    # nothing is run again: the curves are those that lie there, and the pages the same to the byte
    curves = {path: path.stat().st_mtime_ns for path in (kept / "curves").glob("*.json")}
    assert len(curves) == 3
    for source in (tmp_path / "in", tmp_path / "in_graded", kept):
        again = bugzoo("feedback", str(source), "--assignment", NAME, *more, "-o", str(tmp_path / "again"))
        assert again.code == 0, again.err
        assert [(tmp_path / "again" / Path(path).name).read_text() for path in paths] == list(pages.values())
    assert {path: path.stat().st_mtime_ns for path in (kept / "curves").glob("*.json")} == curves

    told = bugzoo("feedback", str(kept), "--assignment", NAME, "-o", str(tmp_path / "told"), "--reveal")
    made = (tmp_path / "told" / "ada.html").read_text()
    [right] = tasks.load(NAME).answers("")
    assert told.code == 0 and "loss/double_softmax" in leaks(made) and right.title in made and 'class="came"' in made
    # a hand-in that came afterwards is said
    hand_in(tmp_path / "in", "eve", notebook("e", PLAIN), NAME)
    later = bugzoo("feedback", *words, "-o", str(tmp_path / "pages"))
    assert "changed since the class was graded: eve" in later.err


@sandboxed
@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    for number in range(6):
        hand_in(tmp_path / "in", f"s{number}", notebook(str(number), PLAIN + f"        number = {number}\n"), NAME)
    kept = tmp_path / "in_graded" / NAME
    kept.mkdir(parents=True)
    part = {"points": 7.0, "max_points": 7.0, "status": "passed", "checks": []}
    for number in range(6):
        one = Record(f"s{number}", "passed", 7.0, 10.0, repair=part)
        (kept / f"s{number}.json").write_text(json.dumps(vars(one)))
    words = [
        sys.executable,
        "-m",
        "bugzoo",
        "feedback",
        tmp_path / "in",
        "--assignment",
        NAME,
        "-o",
        tmp_path / "pages",
    ]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    first = subprocess.Popen([*map(str, words), "--jobs", "1"], env=os.environ | {"OMP_NUM_THREADS": "1"}, **pipes)
    deadline = time.monotonic() + 300
    while not list((kept / "curves").glob("[!.]*.json")) and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    first.send_signal(signal.SIGINT)
    _, said = first.communicate(timeout=120)
    done = {path: path.stat().st_mtime_ns for path in (kept / "curves").glob("*.json")}
    assert first.returncode == 130 and "the same command goes on from there" in said and "Traceback" not in said, said
    assert 1 <= len(done) < 6 and not (tmp_path / "pages").exists() and not list((kept / "curves").glob(".*"))
    assert subprocess.run(list(map(str, words)), capture_output=True, timeout=300).returncode == 0
    assert len(list((tmp_path / "pages").glob("*.html"))) == 6
    assert all(path.stat().st_mtime_ns == when for path, when in done.items())


STRANGE = {
    "nothing": ([], []),
    "not finite": ([math.nan, math.inf, -math.inf], [math.nan] * 3),
    "below zero": ([-1.0, -2.0], [0.0, 0.0]),
    "beyond measure": ([1e308, 1e-308, 1.0], [1e300] * 3),
    "of two lengths": ([1.0, 2.0], [1.0] * 500),
    "one": ([1.0], [1.0]),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_curves(name: str) -> None:
    losses, norms = STRANGE[name]
    own = {"losses": losses, "grad_norms": norms, "outcome": "<b>finished", "first": None}
    healthy = {"losses": [2.0, 1.0, 0.5], "grad_norms": [1.0, 1.0, 1.0]}
    for other in (healthy, None):
        made = feedback.picture(own, other)
        assert "Your run ended early" in made and "<b>" not in made
        assert ("<svg" in made) == bool(other or losses)
    assert "was not run" in feedback.picture(None, healthy)


def test_kept_curves_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "curves").mkdir()
    for text in ("", "[]", '{"key": 1}', '{"key": "k", "outcome": "x", "losses": ["a"], "grad_norms": []}'):
        (tmp_path / "curves" / "ada.json").write_text(text)
        assert runs.read(tmp_path, "ada", "k") is None
    (tmp_path / "curves" / "ada.json").write_text('{"key": "k", "outcome": "x", "losses": ["NaN"], "grad_norms": [1]}')
    found = runs.read(tmp_path, "ada", "k")
    assert found is not None and math.isnan(found["losses"][0])
    assert runs.read(tmp_path, "ada", "other") is None and runs.read(tmp_path, "ada") is not None


def test_what_is_the_instructor_s() -> None:
    """Whose notebook it was, and what the grader stumbled on, stand in the table and on no student's page."""
    one = Record("ada", "cannot be graded", None, 10.0, "the grader failed: KeyError: loss/double_softmax")
    one.notes = ["it is the notebook that was drawn for ben"]
    made = feedback.page(one, "Week 3")
    assert "the grader failed" in made and leaks(made) == [] and "ben" not in made and "no score" in made
