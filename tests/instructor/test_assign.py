"""`bugzoo assign` as the issue says it: a real proof, refusals that cost nothing, and Ctrl-C that leaves nothing."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bugzoo.instructor import key
from tests.cli.conftest import bugzoo  # noqa: F401
from tests.sampling import only_in_prove

STALE, SOFT = "loop/stale_gradients", "loss/double_softmax"
WORDS = ("assign", "--program", "mlp", "--fault", SOFT)


def test_refused_at_once(bugzoo: Any, tmp_path: Path) -> None:  # noqa: F811
    """Mistakes are said before anything is run, with exit code 2, and nothing is written."""
    out = str(tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").write_text("mine")
    (tmp_path / "class.csv").write_text("student_id\nada\n")
    for words, message in [
        ((*WORDS, "--fault", "attention/causal_mask_missing", out), "does not fit mlp"),
        ((*WORDS, "--fault", SOFT, out), "given twice"),
        ((*WORDS, "--fault", "loss/dobule_softmax", out), "Did you mean loss/double_softmax"),
        (("assign", "--program", "mpl", "--fault", SOFT, out), "Did you mean mlp"),
        ((*WORDS, str(tmp_path / "full")), "is not empty"),
        ((*WORDS, "--seed", "x", out), "'x'"),
        ((*WORDS, "--points", "-1", out), "above 0"),
        ((*WORDS, "--students", str(tmp_path / "class.csv"), out), "--secret FILE|ENV"),
        ((*WORDS, "--secret", "COURSE", out), "--students ROSTER.csv"),
        ((*WORDS, "--title", "On double softmax", out), "gives the answer away"),
        (("assign", "--program", "mini_transformer", "-f", "attention/mask_after_softmax",
          "-f", "attention/causal_mask_missing", out), "cannot be combined"),
    ]:  # fmt: skip
        called = bugzoo(*words)
        assert called.code == 2 and message in called.err, (words, called.err)
        assert "Traceback" not in called.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["class.csv", "full"]


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_one_hides_the_other(bugzoo: Any, tmp_path: Path) -> None:  # noqa: F811
    """A measured refusal: which one hides which, in numbers; the JSON says it as well; nothing is written."""
    file = tmp_path / "refused.json"
    called = bugzoo(*WORDS, "-f", "optimizer/lr_too_high", "--seed", "7", str(tmp_path / "out"), f"--json={file}")
    assert called.code == 2
    assert (
        "optimizer/lr_too_high: `loss_curve.diverged > 0.5` holds on 3 of 3 seeds" in called.err and SOFT in called.err
    )
    assert "Nothing was written" in called.err and not (tmp_path / "out").exists()
    refusal = json.loads(file.read_text())
    assert refusal["refused"] and not refusal["ok"] and refusal["graded"] == []
    assert [sight["hidden_by"] for sight in refusal["visible"]] == [[], [SOFT]]


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_proved(bugzoo: Any, tmp_path: Path) -> None:  # noqa: F811
    """The issue's own command. As handed out it earns nothing, each half-repair a part, the whole everything."""
    week = tmp_path / "OUT"
    words = ("--program", "mini_transformer", "--fault", STALE, "--fault", SOFT, "--seed", "7", "--title", "Week 3")
    called = bugzoo("assign", *words, f"{week}/")
    assert called.code == 0 and "2.1 of 7 points: only" in called.out and " of 19, about " in called.err, called.err
    assert "bugzoo grade submitted --assignment . --csv gradebook.csv" in called.out
    proof = json.loads((week / "instructor/proof.json").read_text())
    assert proof["ok"] and proof["problems"] == []
    graded = proof["graded"]
    shares = {
        (step["kind"], step["repaired"]): step["share"] for step in graded if step["kind"] in ("full", "broken", "half")
    }
    assert shares == {("full", ""): 1.0, ("broken", ""): 0.0, ("half", STALE): 0.3, ("half", SOFT): 0.3}
    others = [(step["kind"], step["share"] == 1) for step in graded if step["name"]]
    assert others == [("repair", True), ("pretence", False)] * 2 + [("attack", False)] * 2
    answers = key.read(week).answers
    for answer, sight in zip(answers, proof["visible"], strict=True):
        assert answer.fault == sight["fault"] and len(sight["signs"][0]["together"]) == 3
        assert set(answer.evidence) & set(sight["instruments"])  # what the key asks for was seen to fire
    page = (week / "instructor/proof.md").read_text()
    assert f"only {STALE} repaired | wrong | 2.1" in page and "Proved in" in page


@pytest.mark.slow
@pytest.mark.parametrize("graded_too", [False, only_in_prove(True)], ids=["proved", "proved and graded"])
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("program", "fault"),
    [
        ("regression_mlp", STALE),
        ("checkpointed_mlp", "resume/optimizer_state_lost"),
        ("data_parallel", "freezing/frozen_layers"),
    ],
)
def test_other_tasks_are_proved_and_graded(
    bugzoo: Any,  # noqa: F811
    tmp_path: Path,
    program: str,
    fault: str,
    graded_too: bool,
) -> None:
    """Regression, a training in two runs, and one on two ranks: built, and the whole class graded as it must be."""
    week = tmp_path / "OUT"
    called = bugzoo("assign", "--program", program, "--fault", fault, "--seed", "3", "--title", "Week 6", str(week))
    assert called.code == 0, called.err
    assert json.loads((week / "instructor/proof.json").read_text())["ok"]
    for who, path in (("ada", "instructor/solution.ipynb"), ("ben", "student/week_6.ipynb")):
        handed_in = week / "submitted" / who / "week_6.ipynb"
        handed_in.parent.mkdir(parents=True)
        handed_in.write_bytes((week / path).read_bytes())
    if not graded_too:
        return
    graded = bugzoo("grade", str(week / "submitted"), "--assignment", str(week), f"--json={week}/all.json")
    assert graded.code == 0, graded.err
    students = {student["student"]: student for student in json.loads((week / "all.json").read_text())["students"]}
    assert students["ada"]["repair"]["points"] == 7 and students["ben"]["repair"]["points"] == 0, students


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_variants_by_command(bugzoo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Everybody's variant is run before it is handed out; the same secret makes the same class again."""
    monkeypatch.setenv("COURSE", "a secret of twenty letters")
    (tmp_path / "class.csv").write_text("student_id\nada\nben\n")
    words = ("assign", "--program", "mlp", "-f", "numerics/log_at_step?step=40..60&eps=0", "--title", "Week 4")
    words += ("--students", str(tmp_path / "class.csv"), "--secret", "COURSE")
    for out in ("one", "two"):
        called = bugzoo(*words, str(tmp_path / out))
        assert called.code == 0, called.err
    people = [key.read(tmp_path / out).students for out in ("one", "two")]
    assert people[0] == people[1] and people[0]["ada"]["ticket"] != people[0]["ben"]["ticket"]
    for name in ("ada", "ben"):
        path = f"student/{name}/week_4.ipynb"
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()


@pytest.mark.serial
@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.parametrize("least", [0, 8])
def test_stopped(tmp_path: Path, least: int) -> None:
    """While it measures, and while it grades: no folder, no half folder, nothing in the temporary one."""
    (tmp_path / "temporary").mkdir()
    variables = {"TMPDIR": str(tmp_path / "temporary"), "BUGZOO_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    words = ["--program", "mlp", "--fault", STALE, "--fault", SOFT, "--title", "Week 5", str(tmp_path / "weeks/week_5")]
    process = subprocess.Popen(
        [sys.executable, "-m", "bugzoo", "assign", *words],
        env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    lines = []
    for line in process.stderr:
        lines.append(line)
        if (progress := re.match(r"proof: (\d+) of", line)) and int(progress[1]) >= least:
            break
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=120)
    assert process.returncode == 130, "".join(lines) + rest
    assert "Nothing was written" in rest and "Traceback" not in rest and out == ""
    assert not (tmp_path / "weeks").exists()
    assert not list((tmp_path / "temporary").glob("bugzoo-*"))
