"""Pools: what is drawn is proved, equally hard, everybody's own; and a neighbour's text is known without its marks."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.instructor import cases, handout, key, likely, pools
from bugzoo.instructor.roster import numbered
from bugzoo.instructor.variants import draw
from bugzoo.proving import ledger
from tests.cli.conftest import bugzoo  # noqa: F401
from tests.instructor.class_of import hand_in

SECRET = "a secret of twenty letters"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cases = ", "is no TOML"),
        ("case = 3", "no key of a pool named 'case'"),
        ("cases = 0", "cases = 0 is not allowed; it is a whole number from 1 to 60"),
        ("cases = true", "cases = True is not allowed"),
        ("spread = 2", "it is a number from 0 to 1"),
        ("levels = ['2']", "it is a list of numbers"),
        ("families = 'loss'", "it is a list of texts"),
        ("title = 3", "it is a text"),
        ("families = ['los']", "loss"),
        ("faults = ['loss/double_sofmax']", "loss/double_softmax"),
        ("programs = ['mpl']", "mlp"),
    ],
)
def test_a_file_that_says_something_else(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pool.toml").write_text(text)
    with pytest.raises(UserError) as caught:
        pools.read(tmp_path / "pool.toml")
    assert said in str(caught.value)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        pools.read(tmp_path / "none.toml")
    (tmp_path / "pool.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(UserError, match="could not be read"):
        pools.read(tmp_path / "pool.toml")


@pytest.mark.slow
def test_the_table_is_what_the_ledger_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """`bugzoo verify` and `bugzoo pairs --prove` write it; whoever edits the ledger otherwise has to call them."""
    monkeypatch.delenv("BUGZOO_PROOFS")
    assert cases.published() == cases.proved()


@pytest.mark.parametrize("together", [1, 2])
def test_all_that_is_drawn_from_is_proved(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")
    found = pools.candidates(pools.Pool(together=together))
    assert len(found) > 40 and [one.difficulty for one in found] == sorted(one.difficulty for one in found)
    for one in found:
        assert len(one.faults) == together and programs.load(one.program).facts.get("ranks", 1) == 1
        for fault in one.faults if together == 1 else ():
            assert not ledger.read("faults", fault)["cells"][one.program]["problems"]


def test_chosen_by_the_secret_and_near_each_other() -> None:
    pool = pools.Pool(families=("loss", "loop", "data", "freezing"), cases=8, spread=0.1)
    one, again, other = (pools.choose(pool, secret, "week") for secret in (SECRET, SECRET, SECRET[::-1]))
    assert one == again != other and len(set(one)) == 8
    assert max(case.difficulty for case in one) - min(case.difficulty for case in one) <= 0.2
    assert len({case.faults for case in one}) == 8, "no fault twice while there are others"
    hard = pools.choose(pools.Pool(cases=3, difficulty=0.75, spread=0.1), SECRET, "week")
    assert min(case.difficulty for case in hard) >= 0.65
    with pytest.raises(
        UserError, match=r"0 cases lie within 0 of the difficulty 0\.00.*a `spread` of 0\.\d\d brings enough"
    ):
        pools.choose(pools.Pool(cases=6, difficulty=0, spread=0), SECRET, "week")
    with pytest.raises(UserError, match="Nothing that is proved fits"):
        pools.choose(pools.Pool(families=("traps",)), SECRET, "week")


def test_everybody_has_one_of_them_by_the_id_alone() -> None:
    cases = pools.choose(pools.Pool(cases=5), SECRET, "week")
    dealt = [pools.of(draw(SECRET, "week", one.id), cases) for one in numbered(200)]
    assert {dealt.count(case) > 20 for case in cases} == {True}


def test_whose_lines_they_are() -> None:
    people = {
        "ada": {"lines": likely.sketch("a = 1\nb = 2\nc = 3\nd = 4\n")},
        "ben": {"lines": likely.sketch("a = 1\nbb = 2\ncc = 3\ndd = 4\n")},
        "cat": {},
    }
    assert likely.somebody_elses("a = 1\nb = 2\nc = 3\nd = 5\n", "ada", people) == ""
    said = likely.somebody_elses("  a = 1\n\nb = 2\nc = 3\nd = 5\n", "ben", people)
    assert said == "75% of the lines drawn for ada stand in it, and 25% of its author's own"
    assert likely.somebody_elses("x = 1", "ben", people) == likely.somebody_elses("b = 2", "cat", people) == ""
    assert likely.somebody_elses("a = 1", "ben", {"ben": people["ben"]}) == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pool", "P", "--program", "mlp"), "say which faults are drawn from"),
        (("--pool", "P"), "A pool is for variants"),
        ((), "Say what is wrong: --program NAME and --fault SPEC, or --pool"),
        (("--pool", "P", "--variants", "3"), "also take --secret"),
        (("--pool", "P", "--variants", "3", "--students", "P"), "--variants is for a class without a roster"),
    ],
)
def test_what_is_asked_for_must_be_clear(bugzoo: Any, tmp_path: Path, words: tuple[str, ...], said: str) -> None:  # noqa: F811
    (tmp_path / "pool.toml").write_text("")
    called = bugzoo(
        "assign", *(str(tmp_path / "pool.toml") if one == "P" else one for one in words), str(tmp_path / "out")
    )
    assert called.code == 2 and said in " ".join(called.err.split()) and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_class_from_a_pool(bugzoo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Own repairs pass, what was handed out fails, and a neighbour's notebook without its marks is known by its lines."""
    monkeypatch.setenv("COURSE", SECRET)
    (tmp_path / "pool.toml").write_text(
        'title = "Week 8"\nprograms = ["mlp", "regression_mlp"]\nfamilies = ["loop"]\ncases = 2\n'
    )
    week, words = tmp_path / "week", ("--secret", "COURSE", "--variants", "4", "--pool", str(tmp_path / "pool.toml"))
    called = bugzoo("assign", *words, str(week))
    assert called.code == 0, called.err
    made = key.read(week)
    people = list(made.students)
    handed_out = {name: (week / f"student/{name}/week_8.ipynb").read_text() for name in people}
    assert len({made.of(name)[0].source for name in people}) == 4
    for text in handed_out.values():
        cells = [one for one in json.loads(text)["cells"] if one["id"] != "program-text"]  # packed: any letters
        assert not [name for name in programs.names() if re.search(rf"\b{name}\b", json.dumps(cells))]
    for name in people[:2]:
        mine, answers = made.of(name)
        solved = json.loads(
            handout.build(mine, "solution", answers, json.loads(handed_out[name])["metadata"]["bugzoo"])
        )
        hand_in(tmp_path / "submitted", name, solved, "week_8")
        assert answers[0].places and mine.dialects
    hand_in(tmp_path / "submitted", people[2], handed_out[people[2]], "week_8")
    copied = json.loads((tmp_path / f"submitted/{people[0]}/week_8/week_8.ipynb").read_text())
    copied["metadata"].pop("bugzoo")
    hand_in(tmp_path / "submitted", people[3], copied, "week_8")
    graded = bugzoo("grade", str(tmp_path / "submitted"), "--assignment", str(week), f"--json={tmp_path}/all.json")
    assert graded.code == 0, graded.err
    found = {one["student"]: one for one in json.loads((tmp_path / "all.json").read_text())["students"]}
    assert [found[name]["points"] for name in people[:3]] == [10.0, 10.0, 0.0], found
    assert any(f"of the lines drawn for {people[0]} stand in it" in note for note in found[people[3]]["notes"])
    assert not any("lines drawn for" in note for name in people[:3] for note in found[name]["notes"])
