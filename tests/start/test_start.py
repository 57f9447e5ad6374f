"""The map: what it says of a record, what is next, and where its links lead."""

import re
import shutil
from pathlib import Path

import pytest

from bugzoo import course, lab, record
from bugzoo.errors import UserError
from bugzoo.grading import effort
from bugzoo.grading.exercises import exercises
from bugzoo.scenario import Scenario
from bugzoo.start import here, page
from bugzoo.start.planned import TITLES, planned
from bugzoo.start.standing import Practice, Tile, lesson_of, next_step, tiles
from bugzoo.start.ways import SYMPTOMS, WAYS
from bugzoo.views import names

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))


def test_every_lesson_and_every_exercise_stands_there_once() -> None:
    board = tiles()
    assert [tile.number for tile in board if tile.link] == sorted(course.numbers() - {"00"})
    assert sorted(exercise.name for tile in board for exercise in tile.exercises) == sorted(exercises())
    assert all(
        lesson_of(exercise.name) == int(tile.number) for tile in board if tile.number for exercise in tile.exercises
    )
    names = ("01_wild_start", "03_in_order", "04_flat_loss", "35_no_progress", "61_five_flat_losses")
    assert [lesson_of(name) for name in names] == [1, 1, 2, 12, 1], "61 names its lesson"


def test_it_counts_what_was_answered_written_and_repaired() -> None:
    lesson = course.load("02")
    before = next(tile for tile in tiles() if tile.number == "02")
    assert (before.answered, before.held, before.state, before.done) == (0, 0, "open", False)
    assert before.tasks == len(lesson.tasks) and before.questions > len(lesson.questions), "a drawn guess counts too"
    record.keep("prediction", "02/first_loss", {"said": "a", "revealed": True, "right": False})
    record.keep("prediction", "02/who", {"said": "", "revealed": True, "right": False})
    record.keep("quick check", "02/classes", {"tries": ["ab"], "solved": False})
    for task in lesson.tasks:
        record.keep("task", f"02/{task}", {"held": True})
    record.attempt("04_flat_loss", "repair", "wrong", 0.0, 5.0)
    now = next(tile for tile in tiles() if tile.number == "02")
    assert (now.answered, now.held, now.state, now.done) == (2, before.tasks, "begun", False), "the last case is open"
    (exercise,) = [practice for practice in now.exercises if practice.name == "04_flat_loss"]
    assert exercise.tried and not exercise.passed


def test_a_lesson_is_done_once_its_last_case_is_handed_in() -> None:
    forms = {}
    for number in sorted(course.numbers() - {"00"}):
        lesson = course.load(number)
        code = "\n".join(cell.text for cell in lesson.of("code"))
        case = re.search(r"lab\.diagnose\((\w+)", code)
        assert case and f'{case[1]} = lab.case("{number}/{lesson.transfer}")' in code, number
        forms[number] = Scenario(*lesson.case(lesson.transfer))
    assert not {form.ticket for form in forms.values()} & {
        exercise.scenario.ticket for exercise in exercises().values()
    }
    lab.DiagnosisForm(Scenario(*course.load("02").case("incident")).ticket).hand_in(place=1)
    assert {tile.state for tile in tiles() if tile.link} == {"open"}, "another case does not count"
    form = lab.diagnose(forms["02"])
    assert next_step(tiles(), "new")[1].startswith("02_")
    form.hand_in(cause=form.causes[0], place=1)
    assert {tile.number: tile.state for tile in tiles() if tile.link and tile.state != "open"} == {"02": "done"}
    assert next_step(tiles(), "new")[1].startswith("../exercises/04_")
    assert course.load("00").transfer == "", "a lesson without a form"


def test_every_number_up_to_twenty_is_a_lesson_or_comes_later() -> None:
    assert [tile.number for tile in tiles() if tile.number] == [f"{number:02}" for number in range(1, 21)]
    assert (
        {tile.number for tile in tiles() if tile.state == "later"} == set(planned()) == set(TITLES) - course.numbers()
    )
    text, written = page.as_text(tiles(), "new"), page.as_html(tiles(), "new")
    assert "04 · Silent bugs in the training loop: comes later\n" in text
    assert '<div class="tile later"><div class="title">04 · Silent bugs in the training loop</div>' in written, (
        "no link"
    )


def test_a_planned_title_goes_once_its_lesson_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(course.PLACE, tmp_path / "lessons")
    number = min(planned())
    file = tmp_path / "lessons" / f"{number}_another.py"
    file.write_text(f'"""A lesson."""\n\n# %% [markdown] title\n# # {number} · Another title\n')
    monkeypatch.setattr(course, "PLACE", tmp_path / "lessons")
    matches = [tile for tile in tiles() if tile.number == number]
    assert [(tile.title, tile.link) for tile in matches] == [("Another title", f"{file.stem}.ipynb")]
    assert number not in planned() and TITLES[number] not in page.as_text(tiles(), "new")
    expected = [name for name in exercises() if lesson_of(name) == int(number)]
    assert [exercise.name for exercise in matches[0].exercises] == expected, "it takes its exercises from the last tile"


def test_the_legend_names_every_color_and_every_sign() -> None:
    written, text = page.as_html(tiles(), "new"), page.as_text(tiles(), "new")
    states = {tile.state for tile in tiles() if tile.number} | {"done", "begun"}
    assert states == set(page.STATES) and all(
        f'<span class="mark {state}">{page.STATES[state]}<' in written for state in states
    )
    assert all(f".bugzoo-map .{state} " in written for state in ("done", "begun", "later"))
    assert all(page.DONE in legend and "✓ passed, … tried, ○ open" in legend for legend in (written, text))


def test_a_tile_says_level_and_minutes_of_each_exercise() -> None:
    by_name = {exercise.name: exercise for tile in tiles() for exercise in tile.exercises}
    assert all(
        1 <= exercise.level <= 5 and exercise.minutes % 5 == 0 < exercise.minutes for exercise in by_name.values()
    )
    assert by_name["30_poor_writer"].level == effort.level(exercises()["30_poor_writer"]) == 4
    label = f"level 4, {by_name['30_poor_writer'].minutes} min"
    assert label in page.as_html(tiles(), "new") and f"30 It reads better than it writes ({label})" in page.as_text(
        tiles(), "new"
    )


def test_the_order_of_each_way() -> None:
    orders = {name: " ".join(way.first) for name, way in WAYS.items()}
    assert orders["new"] == orders["teach"] == "02 01 03 06 09 10"
    assert orders["work"] == "03 10 09 06 02 01" and orders["interview"] == "03 02 06 09 10 01"
    assert all(len(set(way.first)) == len(way.first) and set(way.first) <= course.numbers() for way in WAYS.values())


def test_next_is_what_is_not_done_in_the_order_of_the_way() -> None:
    def made(number: str, held: int, passed: bool) -> Tile:
        practice = Practice(f"{number}_x", "E", passed, passed)
        return Tile(number, "T", f"{number}.ipynb", 0, 1, held, 1, bool(held), (practice,))

    open_ones = [made("02", 0, False), made("03", 0, False)]
    assert next_step(open_ones, "new")[1] == "02.ipynb" and next_step(open_ones, "work")[1] == "03.ipynb"
    assert next_step([made("02", 1, False), made("03", 0, False)], "new") == (
        "Exercise 02, E",
        "../exercises/02_x.ipynb",
    )
    assert next_step([made("02", 1, True), made("03", 0, False)], "new")[1] == "03.ipynb"
    finished = [made("02", 1, True), made("03", 1, True)]
    assert next_step(finished, "new")[1] == "interview.ipynb" and next_step(finished, "teach")[1] == "instructor.ipynb"
    later = Tile("04", "A lesson that comes later")
    assert next_step([later, *finished], "new")[1] == "interview.ipynb"
    more = Tile("", "More exercises", exercises=(Practice("28_x", "E", False, False),))
    assert next_step([more, *finished], "work") == ("Exercise 28, E", "../exercises/28_x.ipynb"), "last of all"


def test_every_link_leads_to_a_notebook_and_nothing_names_a_fault() -> None:
    text = page.as_html(tiles(), "new")
    links = re.findall(r'href="([^"]*)"', text)
    assert len(links) > len(exercises()) and all(link and (ROOT / "notebooks" / link).exists() for link in links), links
    assert {view for _, _, view in SYMPTOMS} <= set(names())
    assert all(way.end[1].endswith(".ipynb") and (ROOT / "notebooks" / way.end[1]).exists() for way in WAYS.values())


def test_as_text_and_the_way_is_kept(capsys: pytest.CaptureFixture) -> None:
    here()
    printed = capsys.readouterr().out
    assert (
        printed.startswith("Next: Lesson 02")
        and "02 · Overfit one batch: 0 of" in printed
        and "I have a symptom" in printed
    )
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
