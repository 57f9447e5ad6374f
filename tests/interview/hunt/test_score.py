"""Eight candidates of one hunt, scored by real runs: who repairs more has more, and tricks earn nothing."""

import re
from pathlib import Path

import pytest

from bugzoo.interview.hunt import desk, report, score, sitting
from tests.interview.hunt.candidates import CANDIDATES, notes_of, out_of_order, text_of


@pytest.fixture(scope="module")
def scored(hunt, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[score.Score, Path]]:
    """What each leaves in a folder of his own, handed in and scored."""
    found = {}
    for name in CANDIDATES:
        folder = sitting.sit(hunt, tmp_path_factory.mktemp(name) / "desk", name)
        (folder / "train.py").write_text(text_of(name, hunt), encoding="utf-8")
        (folder / "FINDINGS.md").write_text(notes_of(name, hunt), encoding="utf-8")
        with sitting.told():
            desk.done(folder)
        found[name] = score.hand_in(hunt, folder, method=10 if name == "expert" else 0), folder
    return found


@pytest.mark.slow
def test_their_order(scored) -> None:
    points = {name: one.points for name, (one, _) in scored.items()}
    assert not out_of_order(points), points


@pytest.mark.slow
def test_what_each_has(hunt, scored) -> None:
    expert, idle = scored["expert"][0], scored["idle"][0]
    assert set(expert.repaired) == set(hunt.recipe.ids) and expert.points > 95 and expert.of == 100
    assert idle.points == 0 and not idle.repaired
    half = scored["half"][0]
    assert 0 < len(half.repaired) < len(hunt.recipe.ids)
    assert scored["rewrites"][0].points >= 70
    for name in ("lowers rates", "cheats"):
        assert len(scored[name][0].repaired) <= 1 and scored[name][0].points < half.points, scored[name][0]


@pytest.mark.slow
def test_the_report_of_all(hunt, scored) -> None:
    scores, folders = zip(*scored.values(), strict=True)
    page = report.page(hunt, scores, folders)
    assert all(name in page for name in CANDIDATES) and hunt.recipe.ids[0] in page
    assert not re.findall(r"(?:src|href)=", page), "it fetches nothing"
    told = report.page(hunt, scores, folders, answers=False)
    assert not any(name in told for name in hunt.recipe.ids)


def test_what_a_candidate_wrote_is_escaped(quick, tmp_path: Path) -> None:
    folder = sitting.sit(quick, tmp_path / "desk", "<script>alert(1)</script>")
    (folder / "train.py").write_text("# <img src=x>\nmetrics = {}\n")
    desk.save(folder)
    rows = (score.Row("repaired", 0.0, 60.0, ""),)
    finding = {"text": "<b>mine</b>", "lines": (), "means": ""}
    one = score.Score(
        "X", "<script>alert(1)</script>", rows, (), "wrong", (), (finding,), 0.0, tuple(desk.events(folder))
    )
    page = report.page(quick, [one], [folder])
    assert "<script>" not in page and "<img" not in page and "<b>mine" not in page
    assert "&lt;img src=x&gt;" in page and "2 lines in, 2 out" in page


def test_hints_and_method_count(hunt, monkeypatch: pytest.MonkeyPatch) -> None:
    from bugzoo.grading.model import Result

    monkeypatch.setattr(score, "judged", lambda case, source: (Result("passed"), case.recipe.ids))
    full = score.score(hunt, hunt.solution, "", method=8)
    assert (full.points, full.of) == (78, 100)
    assert score.score(hunt, hunt.solution, "", method=8, hints=2).points == 72
    assert score.score(hunt, hunt.solution, "").of == 90
    wrong = "the net is too small for it\n\nthe batch is too small\n\nmore epochs are needed"
    assert score.score(hunt, hunt.solution, wrong).points == 70, "wrong findings take nothing from repairs"


@pytest.mark.slow
@pytest.mark.parametrize("text", ["def f(:\n", "", "\0", "import os; os.kill(os.getpid(), 9)", "raise SystemExit(3)"])
def test_a_file_that_is_no_program_earns_nothing(hunt, text: str) -> None:
    found = score.score(hunt, text, "")
    assert found.points == 0 and found.status != "passed"


def test_who_sits_without_a_name_learns_by_it(hunt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each bug of a hunt is an answer in the record, once, and none of a candidate of somebody else's."""
    from bugzoo import record
    from bugzoo.grading.model import Result

    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    first = hunt.recipe.ids[:1]
    monkeypatch.setattr(score, "judged", lambda case, source: (Result("wrong"), first))
    for name in ("", "Ada"):
        folder = sitting.sit(hunt, tmp_path / f"desk {name}", name)
        for _ in range(2):
            score.hand_in(hunt, folder)
    found = [one for one in record.events() if one["kind"] == "hunt"]
    assert sorted(one["cause"] for one in found) == sorted(hunt.recipe.ids)
    assert [one["cause"] for one in found if one["right"]] == list(first)
