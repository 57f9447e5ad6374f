"""The map: what it says of a record, what is next, and where its links lead."""

import re
from pathlib import Path

import pytest

from bugzoo import course, record
from bugzoo.errors import UserError
from bugzoo.grading.exercises import exercises
from bugzoo.start import here, page
from bugzoo.start.standing import Practice, Tile, lesson_of, next_step, tiles
from bugzoo.start.ways import SYMPTOMS, WAYS
from bugzoo.views import names

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))


def test_every_lesson_and_every_exercise_stands_there_once() -> None:
    found = tiles()
    assert [tile.number for tile in found if tile.number] == sorted(course.numbers() - {"00"})
    assert sorted(one.name for tile in found for one in tile.exercises) == sorted(exercises())
    assert all(lesson_of(one.name) == int(tile.number) for tile in found if tile.number for one in tile.exercises)
    assert [lesson_of(name) for name in ("01_a", "03_a", "04_flat_loss", "60_a")] == [1, 1, 2, 20]


def test_it_counts_what_was_answered_written_and_repaired() -> None:
    lesson = course.load("02")
    before = next(tile for tile in tiles() if tile.number == "02")
    assert (before.answered, before.held, before.begun, before.done) == (0, 0, False, False)
    assert before.tasks == len(lesson.tasks) and before.questions > len(lesson.questions), "a drawn guess counts too"
    record.keep("prediction", "02/first_loss", {"said": "a", "revealed": True, "right": False})
    record.keep("prediction", "02/who", {"said": "", "revealed": True, "right": False})
    record.keep("quick check", "02/classes", {"tries": ["ab"], "solved": False})
    for task in lesson.tasks:
        record.keep("task", f"02/{task}", {"held": True})
    record.attempt("04_flat_loss", "repair", "wrong", 0.0, 5.0)
    now = next(tile for tile in tiles() if tile.number == "02")
    assert (now.answered, now.held, now.begun, now.done) == (2, before.tasks, True, True)
    (exercise,) = [one for one in now.exercises if one.name == "04_flat_loss"]
    assert exercise.tried and not exercise.passed


def test_next_is_what_is_not_done_in_the_order_of_the_way() -> None:
    def made(number: str, held: int, passed: bool) -> Tile:
        return Tile(number, "T", f"{number}.ipynb", 0, 1, held, 1, (Practice(f"{number}_x", "E", passed, passed),))

    open_ones = [made("02", 0, False), made("03", 0, False)]
    assert next_step(open_ones, "new")[1] == "02.ipynb" and next_step(open_ones, "work")[1] == "03.ipynb"
    assert next_step([made("02", 1, False), made("03", 0, False)], "new") == (
        "Exercise 02, E",
        "../exercises/02_x.ipynb",
    )
    assert next_step([made("02", 1, True), made("03", 0, False)], "new")[1] == "03.ipynb"
    done = [made("02", 1, True), made("03", 1, True)]
    assert next_step(done, "new")[1] == "interview.ipynb" and next_step(done, "teach")[1] == "instructor.ipynb"
    more = Tile("", "More exercises", "", 0, 0, 0, 0, (Practice("28_x", "E", False, False),))
    assert next_step([more, *done], "work") == ("Exercise 28, E", "../exercises/28_x.ipynb"), "last of all"


def test_every_link_leads_to_a_notebook_and_nothing_names_a_fault() -> None:
    text = page.as_html(tiles(), "new")
    links = re.findall(r'href="([^"]*)"', text)
    assert len(links) > len(exercises()) and all(link and (ROOT / "notebooks" / link).exists() for link in links), links
    assert {view for _, _, view in SYMPTOMS} <= set(names())
    assert all(way.end[1].endswith(".ipynb") and (ROOT / "notebooks" / way.end[1]).exists() for way in WAYS.values())


def test_as_text_and_the_way_is_kept(capsys: pytest.CaptureFixture) -> None:
    here()
    said = capsys.readouterr().out
    assert said.startswith("Next: Lesson 01") and "02 · Overfit one batch: 0 of" in said and "I have a symptom" in said
    here("work")
    assert capsys.readouterr().out.startswith("Next: Lesson 03")
    here()
    assert capsys.readouterr().out.startswith("Next: Lesson 03"), "it is kept"
    with pytest.raises(UserError, match="'wrok'"):
        here("wrok")


def test_a_record_that_cannot_be_read_counts_as_empty(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "record.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 20)
    here()
    assert "02 · Overfit one batch: 0 of" in capsys.readouterr().out
