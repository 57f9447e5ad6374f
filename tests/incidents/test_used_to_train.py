"""A history as somebody gets it: found by `git bisect run`, without a word of its cause, and nothing left behind by a mistake."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bugzoo import faults
from bugzoo.incidents import bisecting, judge, sealed, trial
from bugzoo.incidents.leaks import leaked
from bugzoo.incidents.repository import environment, git

FAULT = "optimizer/weight_decay_too_strong"


@pytest.fixture
def answer(history_folder) -> str:
    return sealed.read(history_folder)["questions"][0]["answer"]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["bugzoo verdict", "a script of one's own"])
def test_git_bisect_run_finds_it_and_skips_what_does_not_run(history_folder, answer, tmp_path, way):
    copy = tmp_path / "copy"
    git(tmp_path, "clone", "--quiet", str(history_folder / "repository"), str(copy))
    first = git(copy, "rev-list", "--max-parents=0", "HEAD").strip()
    own = tmp_path / "own.py"
    ticket = (history_folder / "TICKET.md").read_text()
    metric, then, now = re.search(r"used to end with (\w+) ([\d.]+),.*now it is ([\d.]+)\.", ticket).groups()
    own.write_text(OWN.format(metric=metric, then=then, now=now))
    words = (
        [sys.executable, "-m", "bugzoo", "verdict", "train.py"] if way == "bugzoo verdict" else [sys.executable, own]
    )
    root = str(Path(__file__).parents[2])
    env = environment() | {"PYTHONPATH": root + os.pathsep + os.environ.get("PYTHONPATH", "")}
    git(copy, "bisect", "start", "main", first)
    words = ["nice", "git", "bisect", "run", *map(str, words)]
    done = subprocess.run(words, cwd=copy, env=env, capture_output=True, text=True, timeout=900, check=False)
    assert f"{answer} is the first bad commit" in done.stdout, done.stdout + done.stderr
    assert "git bisect skip" in git(copy, "bisect", "log"), "halving comes past the commit that does not run"


OWN = """\
import ast, subprocess, sys

done = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True)
if done.returncode:
    raise SystemExit(125)
metrics = ast.literal_eval(done.stdout.strip().splitlines()[-1])
raise SystemExit(abs(metrics[{metric!r}] - {now}) < abs(metrics[{metric!r}] - {then}))
"""


@pytest.mark.slow
def test_the_ticket_and_the_log_say_what_was_measured(history_folder):
    ticket = (history_folder / "TICKET.md").read_text()
    commits = git(history_folder / "repository", "log", "--format=%h", "--abbrev=10", "--reverse").split()
    assert commits[0] in ticket and commits[-1] in ticket and f"{len(commits)} commits" in ticket
    rows = [json.loads(line) for line in (history_folder / "nightly.jsonl").read_text().splitlines()]
    assert len(rows) >= 3 and {row["commit"] for row in rows} <= set(commits)
    assert len({row["seed"] for row in rows}) == len(rows)
    noisy = sealed.read(history_folder)["noisy"]
    assert noisy and all(name in rows[0] for name in noisy)
    row = rows[-1]
    git(history_folder / "repository", "checkout", "--quiet", row["commit"])
    script = (history_folder / "repository" / "train.py").read_text()
    git(history_folder / "repository", "checkout", "--quiet", "main")
    assert trial._night(trial.with_seed(script, row["seed"]), row["seed"]) == {
        k: v for k, v in row.items() if k != "commit"
    }


@pytest.mark.slow
def test_nothing_in_the_folder_names_the_fault(history_folder):
    said = leaked(history_folder, [FAULT])
    assert not said, said


@pytest.mark.slow
def test_check_and_reveal(history_folder, answer, incident):
    wrong = git(history_folder / "repository", "rev-parse", f"{answer}~1").strip()
    assert incident("check", history_folder, answer[:9])[:2] == (0, "right\n")
    assert incident("check", history_folder, wrong)[:2] == (1, "wrong\n")
    code, out, _ = incident("check", history_folder, wrong, "--json")
    assert code == 1 and json.loads(out)["right"] is False
    code, out, _ = incident("reveal", history_folder)
    assert code == 0 and answer in out and FAULT in out and "Needs several seeds" in out
    for typed, said in (("nonsense", "no commit"), ("--", "Missing"), ("main..HEAD", "no commit")):
        code, _, err = incident("check", history_folder, typed)
        assert code == 2 and said in err, err
    code, _, err = incident("check", history_folder, answer, "--question", "2")
    assert code == 2 and "from 1 to 1" in err


@pytest.mark.slow
def test_answers_that_were_changed_are_refused(history_folder, tmp_path, incident):
    (tmp_path / "made").mkdir()
    key = tmp_path / "made.answers"
    row = json.loads(sealed.place(history_folder).read_text())
    for text, said in (
        (json.dumps(row | {"answers": row["answers"][:-4]}), "changed"),
        (json.dumps(row | {"bugzoo_incident": 9}), "format 9"),
        ("{", "no answers"),
        ("[]", "no answers"),
    ):
        key.write_text(text)
        code, _, err = incident("check", tmp_path / "made", "HEAD")
        assert code == 2 and said in err, err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["used-to-trian"], "Did you mean used-to-train"),
        (["used-to-train", "--program", "mpl"], "mlp"),
        (["used-to-train", "--fault", "loop/stale_gradient"], "loop/stale_gradients"),
        (["used-to-train", "--commits", "5"], "from 12 to 40"),
        (["used-to-train", "--commits", "41"], "from 12 to 40"),
        (["used-to-train", "--fault", "attention/scale_missing"], "does not fit mlp"),
        (["used-to-train", "--program", "mini_transformer", "--fault", "memory/batch_too_large"], "memory limit"),
        (["used-to-train", "--program", "data_parallel"], "several processes"),
        (["used-to-train", "--program", "checkpointed_mlp"], "several processes or runs"),
    ],
)
def test_what_can_be_typed_wrong(words, said, incident, tmp_path):
    code, _, err = incident("make", words[0], tmp_path / "new", *words[1:])
    assert code == 2 and said in err and "Traceback" not in err, err
    assert not list(tmp_path.iterdir()), "nothing is left behind"


@pytest.mark.parametrize("name", ["new", "new.answers"])
def test_what_is_there_is_not_overwritten(name, incident, tmp_path):
    (tmp_path / name).mkdir()
    code, _, err = incident("make", "used-to-train", tmp_path / "new")
    assert code == 2 and f"{name} exists" in err and [one.name for one in tmp_path.iterdir()] == [name]


def test_without_git(incident, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    code, _, err = incident("make", "used-to-train", tmp_path / "new")
    assert code == 2 and "Install git" in err and not list(tmp_path.iterdir())


def test_a_fault_that_one_run_does_not_show_is_told_and_leaves_nothing(incident, tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "verdict", lambda script: ("good", {"accuracy": 1.0}))
    code, _, err = incident("make", "used-to-train", tmp_path / "new", "--fault", FAULT)
    assert code == 2 and "shows nothing to `bugzoo verdict`" in err and not list(tmp_path.iterdir())


def test_ctrl_c_leaves_nothing(tmp_path, monkeypatch):
    def stopped(script):
        raise KeyboardInterrupt

    monkeypatch.setattr(trial, "verdict", stopped)
    with pytest.raises(KeyboardInterrupt):
        bisecting.make(tmp_path / "new", "mlp", FAULT, 12, 3)
    assert not list(tmp_path.iterdir())


def test_a_folder_without_answers(incident, tmp_path):
    for words in (("check", tmp_path, "HEAD"), ("reveal", tmp_path), ("check", tmp_path / "none", "HEAD")):
        code, _, err = incident(*words)
        assert code == 2 and "no incident with its answers" in err


def test_an_answer_is_judged_by_its_kind(tmp_path):
    (tmp_path / "made").mkdir()
    number = {"text": "?", "kind": "number", "answer": 12.0, "tolerance": 1.0, "why": ""}
    choice = {"text": "?", "kind": "choice", "answer": "b", "choices": ["a", "b"], "why": ""}
    sealed.write(tmp_path / "made.answers", {"incident": "x", "questions": [number, choice], "told": []})
    folder = tmp_path / "made"
    assert judge.check(folder, "13", 1) and not judge.check(folder, "13.5", 1) and not judge.check(folder, "nan", 1)
    assert judge.check(folder, " B", 2) and not judge.check(folder, "a", 2)
    for typed, which in (("twelve", 1), ("c", 2)):
        with pytest.raises(judge.UserError):
            judge.check(folder, typed, which)


def test_the_search_for_leaks_finds_one(tmp_path):
    fault = faults.load(FAULT)
    for number, said in enumerate((FAULT, fault.title, fault.hints[1], "Weight-Decay-Too-Strong")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "a.txt").write_text(f"so {said} it was")
        assert leaked(folder, [FAULT])
