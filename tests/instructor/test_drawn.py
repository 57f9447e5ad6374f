"""What `bugzoo assign` does with a case that is refused, and with a text for everybody in other words."""

import json
from pathlib import Path
from typing import Any

import pytest

from bugzoo.instructor import Assignment, handout, key, pools
from bugzoo.instructor.cases import Case
from bugzoo.instructor.credit import Credit
from tests.cli.conftest import bugzoo  # noqa: F401
from tests.instructor.class_of import hand_in

HIDING = Case("mlp", ("loop/step_missing", "data/labels_out_of_sync"), 0.5)
"""The ledger says that the first hides the second."""
OTHERS = [Case("mlp", ("loop/stale_gradients", "loss/double_softmax"), 0.5), Case("mlp", HIDING.faults[::-1], 0.5)]
SECRETS = ("a secret of twenty letters", "one more secret of twenty", "and a third secret, also long")


def refused_first() -> str:
    """A secret with which a case that is refused is drawn before the one that is not."""
    for secret in SECRETS:
        order = pools.drawn(pools.Pool(together=2, cases=1), secret, "week_9")
        if order[0] != OTHERS[0]:
            return secret
    raise AssertionError("no secret draws a refused case first")


@pytest.mark.slow
def test_a_refused_case_is_replaced(bugzoo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.delenv("BUGZOO_PROOFS", raising=False)
    monkeypatch.setattr(pools, "published", lambda: [HIDING, *OTHERS])
    secret = refused_first()
    monkeypatch.setenv("COURSE", secret)
    given = ("--together", "2", "--secret", "COURSE", "--variants", "2", "--title", "Week 9", "--partial", "0.1,0.6")
    (tmp_path / "pool.toml").write_text("cases = 1\n")
    called = bugzoo("assign", *given, "--pool", str(tmp_path / "pool.toml"), str(tmp_path / "week"))
    assert called.code == 0, called.err
    assert "Refused, and another case drawn: mlp with " in called.err and "hides" in called.err
    made = key.read(tmp_path / "week")
    assert {made.own(one).faults for one in made.students} == {OTHERS[0].faults}
    assert made.assignment.credit == Credit((0.1, 0.6))
    manifest = json.loads((tmp_path / "week/instructor/manifest.json").read_text())
    assert [tuple(one["faults"]) for one in manifest["pool"]] == [OTHERS[0].faults]
    monkeypatch.setattr(pools, "published", lambda: [HIDING])
    called = bugzoo("assign", *given, "--pool", str(tmp_path / "pool.toml"), str(tmp_path / "none"))
    assert called.code == 2 and "This combination is refused" in called.err and not (tmp_path / "none").exists()


@pytest.mark.slow
def test_everybody_in_other_words(bugzoo: Any, tmp_path: Path, sandboxed: None) -> None:  # noqa: F811
    """The same proof, the same points, and what was handed out counts as that."""
    week = tmp_path / "week"
    words = ("--program", "mlp", "--fault", "loop/stale_gradients", "--title", "Week 7")
    called = bugzoo("assign", *words, "--in-other-words", "7", str(week))
    assert called.code == 0 and "Proved." in called.out, called.err
    made = key.read(week)
    mine, answers = made.of("ada")
    plain = Assignment("mlp", ("loop/stale_gradients",), title="Week 7")
    assert mine.dialect == "7" and len(mine.dialects) >= 4 and mine.source != plain.source
    notebook = (week / "student/week_7.ipynb").read_text()
    hand_in(tmp_path / "submitted", "ada", json.loads(handout.build(mine, "solution", answers)), "week_7")
    hand_in(tmp_path / "submitted", "ben", notebook, "week_7")
    graded = bugzoo("grade", str(tmp_path / "submitted"), "--assignment", str(week), f"--json={tmp_path}/all.json")
    assert graded.code == 0, graded.err
    found = {
        one["student"]: (one["state"], one["points"])
        for one in json.loads((tmp_path / "all.json").read_text())["students"]
    }
    assert found == {"ada": ("passed", 10.0), "ben": ("not attempted", 0.0)}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--dialect", "7", "--variants", "3"), "variants have dialects of their own"),
        (("--dialect", " "), "--dialect ' ' is empty"),
        (("--dialect", "7", "--dialects", "0"), "asks for other words"),
        (("--partial", "1"), "partial = [1.0] is not allowed"),
        (("--partial", "much"), "--partial 'much' is not allowed"),
        (("--weight", "loss"), "--weight 'loss' is not allowed"),
        (("--weight", "los=2"), "'los'"),
        (("--level", "2"), "--program and --fault are for one case"),
        (("--together", "0"), "--program and --fault are for one case"),
    ],
)
def test_what_must_be_clear(bugzoo: Any, tmp_path: Path, words: tuple[str, ...], said: str) -> None:  # noqa: F811
    given = ("--program", "mlp", "--fault", "loop/stale_gradients", *words)
    called = bugzoo("assign", *given, str(tmp_path / "out"))
    assert called.code == 2 and said in " ".join(called.err.split()) and not (tmp_path / "out").exists(), called.err
